// The live page in a real browser: it simulates as the program does, and bodies can be grabbed.
//
// usage: node test_live.mjs ABUT_PROGRAM OUT_FOLDER (needs ABUT_NODE_MODULES); exit code 77: skipped
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync, inflateSync } from "node:zlib";
import { need, openPage, runTests } from "./browser.mjs";

const [program, folder] = process.argv.slice(2).map((p) => resolve(p));
need("live.html");
mkdirSync(folder, { recursive: true });

const abut = (...words) => execFileSync(program, words, { encoding: "utf8" });
const file = (name) => join(folder, name);

// A cube of 10 cm on the floor, and another beside it.
writeFileSync(file("blocks.xml"), `<mujoco model="blocks">
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" friction="0.5"/>
    <body name="cube" pos="0 0 0.05"><freejoint/><geom type="box" size=".05 .05 .05" density="500" friction="0.5"/></body>
    <body name="other" pos="0 0.3 0.05"><freejoint/><geom type="box" size=".05 .05 .05" density="500" friction="0.5"/></body>
  </worldbody>
</mujoco>\n`);
abut("live", file("blocks.xml"), file("blocks.html"));

// Motors without limits of their own.
writeFileSync(file("servos.xml"), `<mujoco model="servos">
  <compiler angle="radian"/>
  <worldbody>
    <body name="a"><joint name="short" type="slide" range="-.03 .02"/><geom type="sphere" size=".1"/>
      <body name="b" pos="0 0 .3"><joint name="elbow" range="0 2.8"/><geom type="sphere" size=".1"/>
        <body name="c" pos="0 0 .3"><joint name="round"/><geom type="sphere" size=".1"/></body></body></body>
  </worldbody>
  <tendon><fixed name="cord" range="-.4 .2" limited="true"><joint joint="elbow" coef=".1"/></fixed></tendon>
  <actuator>
    <position joint="short" kp="9"/> <position joint="elbow" kp="9" gear="-2"/> <position joint="round" kp="9"/>
    <position tendon="cord" kp="9"/> <motor joint="elbow"/> <velocity joint="elbow" kv="9"/> <motor joint="round"/>
    <position joint="elbow" kp="9" ctrllimited="true" ctrlrange="1 2"/>
  </actuator>
  <keyframe><key ctrl="0 0 0 0 5 -3 0 1"/></keyframe>
</mujoco>\n`);
abut("live", file("servos.xml"), file("servos.html"));

// The cube alone, as small as a grain and as large as a house.
for (const scale of [0.01, 1, 100]) {
  const s = 0.05 * scale;
  writeFileSync(file(`cube${scale}.xml`), `<mujoco model="cube">
  <option timestep="${0.002 * Math.sqrt(scale)}"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="cube" pos="0 0 ${s}"><freejoint/><geom type="box" size="${s} ${s} ${s}" density="500"/></body>
  </worldbody>
</mujoco>\n`);
  abut("live", file(`cube${scale}.xml`), file(`cube${scale}.html`));
}

// A cube far from the origin of a floor without end, in a ball that is not to be seen, behind a ball of glass.
writeFileSync(file("far.xml"), `<mujoco model="far">
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" euler="0 0 30"/>
    <body name="cube" pos="1000 -2000 0.05"><freejoint/><geom type="box" size=".05 .05 .05" rgba="0.1 0.1 0.9 1"/>
      <geom type="sphere" size=".15" contype="0" conaffinity="0" mass="0" rgba="1 0 0 0"/>
      <geom type="sphere" size=".03" pos=".07 -.094 .05" contype="0" conaffinity="0" mass="0" rgba="1 1 1 .1"/></body>
  </worldbody>
</mujoco>\n`);
abut("live", file("far.xml"), file("far.html"));

// Two bodies that fall so fast that the first step ends beyond all bounds.
writeFileSync(file("break.xml"), `<mujoco model="break">
  <option timestep="0.002" gravity="0 0 -1e12"/>
  <worldbody>
    <body name="stone" pos="0 0 1"><freejoint/><geom type="sphere" size=".1"/></body>
    <body name="brick" pos="1 0 1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  </worldbody>
</mujoco>\n`);
abut("live", file("break.xml"), file("break.html"));

// A block on a slide with a motor, a keyframe that sets it, and a friction that only a <pair> knows.
writeFileSync(file("motor.xml"), `<mujoco model="motor">
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" friction="0.9"/>
    <body name="cube" pos="0 0 0.05"><freejoint/><geom name="cube" type="box" size=".05 .05 .05" density="500" friction="0.9"/></body>
    <body name="arm" pos="0 0.5 0.3"><joint name="arm" type="slide" axis="1 0 0" range="-.3 .3" limited="true" damping="5"/>
      <geom type="box" size=".04 .04 .04" density="500"/></body>
  </worldbody>
  <contact><pair geom1="floor" geom2="cube" friction="0.5 0.5 0.005 0.0001 0.0001" condim="4"/></contact>
  <actuator><position name="arm" joint="arm" kp="200" ctrllimited="true" ctrlrange="-.2 .2"/></actuator>
  <keyframe><key name="out" qpos="0 0 0.05 1 0 0 0 0.1" ctrl="0.1"/></keyframe>
</mujoco>\n`);
abut("live", file("motor.xml"), file("motor.html"), "--key", "out", "--set", "tolerance=1e-7");

const tests = {
  async the_simulator_is_small() {
    const text = readFileSync(file("blocks.html"), "latin1");
    const code = /id="abut-wasm">([^<]*)</.exec(text)[1];
    const size = gzipSync(inflateSync(Buffer.from(code, "base64")), { level: 9 }).length;
    console.log(`     ${(size / 1000).toFixed(0)} kB gzipped`);
    assert.ok(size < 500e3, `${size} bytes`);
  },

  // To the bit: the same operations in the same order, and elementary functions of our own.
  async it_simulates_as_the_program_does() {
    const scenes = readdirSync("scenes").filter((name) => name.endsWith(".xml")).map((name) => [name.replace(".xml", "")]);
    assert.ok(scenes.length >= 20);
    const others = [["demo", "--key", "go", "--step", "0.004"], ["box_on_plane", "--contact", "volume-qp"], ["slide", "--contact", "ecp"],
      ["stack10", "--contact", "volume-pgs"], ["dominoes", "--contact", "point-pgs"], ["coin", "--key", "spin", "--contact", "volume-penalty"]];
    for (const [scene, ...more] of [...scenes, ...others]) {
      abut("live", `scenes/${scene}.xml`, file(`${scene}.html`), ...more);
      await withPage(`${scene}.html`, async (page) => {
        const h = await page.evaluate(() => window.abut.live.sim.h);
        const native = JSON.parse(abut("run", `scenes/${scene}.xml`, "--time", String(1000 * h), "--json", "--quiet", ...more));
        assert.equal(native.steps, 1000);
        const [time, hash] = await page.evaluate(() => (window.abut.step(1000), [window.abut.time, window.abut.hash()]));
        assert.ok(Math.abs(time - native.time) < 1e-9);
        assert.equal(hash, native.hash, scene);
      });
    }
  },

  async it_waits_until_somebody_starts_it() {
    await withPage("blocks.html", async (page) => {
      await reset(page);
      await page.waitForTimeout(300);
      assert.equal(await time(page), 0);
      await page.locator("#play").click();
      await page.waitForFunction(() => window.abut.time > 0.05);
      await page.evaluate(() => window.abut.pause());
      const t = await time(page);
      await page.waitForTimeout(200);
      assert.equal(await time(page), t, "pause holds");
      await page.locator("#one").click();
      assert.ok(Math.abs((await time(page)) - t - 0.002) < 1e-9, "a single step");
      await page.locator("#reset").click();
      assert.equal(await time(page), 0);
    });
  },

  // By a clock of the test's own, which a busy machine does not disturb.
  async time_lost_to_slow_steps_is_made_up_for() {
    await withPage("blocks.html", async (page) => {
      await reset(page);
      const { behind, caughtUp, fastest, tooLarge, longest } = await page.evaluate(() => {
        const { live } = window.abut, { sim } = live, { h } = sim, own = sim.advance, clock = performance.now;
        let now = 0, cost = 0, wall = 0, fastest = 0, longest = 0;
        performance.now = () => now;
        sim.advance = function (n) { return (now += n * cost), own.call(this, n); };
        const pictures = (n, ms) => {
          for (let i = 0; i < n; i++) {
            const before = sim.t, start = now;
            live.run(ms / 1000), (wall += ms / 1000);
            fastest = Math.max(fastest, (1000 * (sim.t - before) - 2000 * h) / ms), longest = Math.max(longest, (now - start) / ms);
            now = start + Math.max(ms, now - start);
          }
          return wall - sim.t;
        };
        live.debt = live.saved = live.steps = live.stepTime = 0;
        cost = 5;  // ms a step of 2 ms: an impact
        const behind = pictures(4, 40);
        cost = 0.1, live.steps = live.stepTime = 0;
        const caughtUp = pictures(40, 40);
        cost = 5, live.steps = live.stepTime = 0, (longest = 0);
        const tooLarge = pictures(100, 40);  // for good: the picture goes on, time is given up
        performance.now = clock, sim.advance = own, live.debt = live.steps = live.stepTime = 0;
        return { behind, caughtUp, fastest, tooLarge, longest };
      });
      assert.ok(behind > 0.05, `slow steps cost time at first: ${behind} s`);
      assert.ok(Math.abs(caughtUp) < 0.01, `made up for within 1.6 s: ${caughtUp} s`);
      assert.ok(fastest < 1.3, `without a jump: ${fastest} times as fast`);
      assert.ok(tooLarge > 2, `what is too large runs slower: ${tooLarge} s`);
      assert.ok(longest < 1, `and leaves time to draw: ${longest} of a picture`);
    });
  },

  // The floor has a shader of its own; with a graphics card there is a second light.
  async the_floor_is_light_and_has_shadows_and_lines() {
    for (const card of [false, true]) {
      const { page, trouble, close } = await openPage(file("blocks.html"), { card });
      try {
        await page.waitForFunction(() => window.abut && !window.abut.live.dirty, null, { timeout: 120000 });
        const light = await page.evaluate(() => {
          const { stage } = window.abut.live, gl = stage.renderer.getContext(), [w, h] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
          window.abut.live.overlay.group.visible = false;
          stage.renderer.shadowMap.needsUpdate = true;
          stage.render();
          const all = new Uint8Array(4 * w * h);
          gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, all);
          // The least and the largest around a place on the floor, 7 pixels square.
          return [[0.08, 0.02], [0.325, -0.075], [0.3, 0]].map(([x, y]) => {
            const p = stage.center.clone().set(x, y, 0).project(stage.camera), seen = [];
            const u = Math.round(((p.x + 1) / 2) * w), v = Math.round(((p.y + 1) / 2) * h);
            for (let i = -3; i <= 3; i++) for (let j = -3; j <= 3; j++) seen.push(all[4 * ((v + i) * w + u + j) + 1]);
            return [Math.min(...seen), Math.max(...seen)];
          });
        });
        const [[, shade], [plain, sun], [line, beside]] = light, seen = JSON.stringify(light);
        assert.ok(sun > 215 && sun < 245 && sun - plain <= 2, `light between lines, cells of 5 cm: ${seen}`);
        assert.ok(shade > 0.7 * sun && shade < 0.95 * sun, `shade where the cube keeps the sun off: ${seen}`);
        assert.ok(line < sun - 8 && Math.abs(beside - sun) <= 2, `a line through the origin: ${seen}`);
        assert.deepEqual(trouble, []);
      } finally {
        await close();
      }
    }
  },

  async a_grabbed_block_is_lifted_held_and_dropped() {
    await withPage("blocks.html", async (page) => {
      await reset(page);
      const from = await spot(page, "cube");
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(from.x, from.y - 200, { steps: 10 });
      // the cube follows within a few time constants of the spring; its diagonal is 17 cm
      await page.waitForFunction(() => window.abut.pose("cube")[2] > 0.1, null, { timeout: 120000 });
      // held still, it stays: what is left of its motion after a second is damped away
      const t0 = await time(page);
      await page.waitForFunction((t) => window.abut.time > t + 1, t0, { timeout: 120000 });
      const before = await pose(page, "cube"), t1 = await time(page);
      await page.waitForFunction((t) => window.abut.time > t + 0.5, t1, { timeout: 120000 });
      const after = await pose(page, "cube");
      for (let k = 0; k < 3; k++) near(after[k], before[k], 1e-3, "a held block does not slip");
      const force = await page.evaluate(() => Math.hypot(...window.abut.live.sim.hand(0).force));
      const weight = 0.5 * 9.81;  // half a kilogramme
      near(force, weight, 0.02 * weight, "the hand carries the weight");
      assert.match(await page.locator("#hand-tip").innerText(), /N$/);
      await page.mouse.up();
      await page.waitForFunction(() => window.abut.pose("cube")[2] < 0.09, null, { timeout: 120000 });
      assert.equal(await page.locator("#hand-tip").isVisible(), false);
      await page.evaluate(() => window.abut.pause());
    });
  },

  async a_hand_is_as_good_in_small_scenes_as_in_large_ones() {
    for (const scale of [0.01, 1, 100])
      await withPage(`cube${scale}.html`, async (page) => {
        await reset(page);
        const from = await spot(page, "cube");
        await page.mouse.move(from.x, from.y);
        await page.mouse.down();
        await page.mouse.move(from.x, from.y - 150, { steps: 5 });
        const { left, most, size } = await page.evaluate(() => {
          const { live } = window.abut, { sim } = live;
          window.abut.pause();
          let most = 0;
          for (let i = 0; i < 1000; i++) {
            window.abut.step(1);
            const { grip, target } = sim.hand(0);
            most = Math.max(most, grip[2] - target[2]);
          }
          const { grip, target } = sim.hand(0);
          return { left: Math.hypot(...grip.map((x, k) => x - target[k])), most, size: live.stage.size };
        });
        await page.mouse.up();
        // SAG of web/src/hand.js, and half as much because the spring looks a step ahead without knowing of gravity
        assert.ok(left < 0.013 * size, `${scale}: it hangs ${left / size} of the scene below the pointer`);
        assert.ok(most < 0.05 * size, `${scale}: it went too far by ${most / size} of the scene`);
      });
  },

  async a_hand_too_weak_does_not_lift() {
    await withPage("blocks.html", async (page) => {
      await reset(page);
      await page.evaluate(() => window.abut.live.hands.setLimit(0.2));  // 0.8 m g
      const from = await spot(page, "cube");
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(from.x, from.y - 150, { steps: 5 });
      // it tips, hops and comes to rest
      const z = await page.evaluate(() => {
        window.abut.pause();
        window.abut.step(1000);
        return window.abut.pose("cube")[2];
      });
      await page.mouse.up();
      await page.evaluate(() => window.abut.live.hands.setLimit(1));
      // on its corner, the centre of a cube is half of the space diagonal above the floor
      assert.ok(z < 0.087, `0.8 m g may raise an edge or a face, but lifts nothing: ${z}`);
    });
  },

  async dragging_beside_the_bodies_turns_the_view() {
    await withPage("blocks.html", async (page) => {
      await reset(page);
      const eye = () => page.evaluate(() => window.abut.live.stage.camera.position.toArray());
      const before = await eye();
      assert.equal(await page.evaluate(() => window.abut.live.hands.pick(60, 300)), null, "floor");
      await page.mouse.move(60, 300);
      await page.mouse.down();
      await page.mouse.move(190, 310, { steps: 4 });
      await page.mouse.up();
      await page.waitForFunction((b) => window.abut.live.stage.camera.position.toArray().some((x, i) => x !== b[i]), before);
      assert.equal(await time(page), 0, "and starts nothing");
      await page.locator("#home").click();
    });
  },

  async friction_and_contact_model_can_be_changed() {
    await withPage("blocks.html", async (page) => {
      await reset(page);
      const names = abut("models").match(/^[a-z-]+/gm);
      const offered = await page.locator("#model option").allInnerTexts();
      for (const name of offered) assert.ok(names.includes(name), `${name} is a model`);
      await page.locator("#model").selectOption("volume-pgs");
      await page.evaluate(() => window.abut.step(20));
      assert.ok((await page.evaluate(() => window.abut.contacts.length)) === 2);
      await page.locator("#model").selectOption("patch");
      // pushed at half its weight, a block with friction 0.5 x 0.1 slides away, one with 0.5 x 2 stays
      assert.ok((await pushed(page, 0.1)) > 0.03);
      assert.ok((await pushed(page, 2)) < 0.003);
      await slide(page, "friction", 1);
    });
  },

  async sliders_of_motors_tell_what_the_motors_do() {
    await withPage("motor.html", async (page) => {
      await reset(page);
      const slider = page.locator("#actuators input"), value = page.locator("#actuators output");
      assert.equal(Number(await slider.inputValue()), 0.1, "as the keyframe sets it");
      assert.equal(await value.innerText(), "0.1");
      await slider.evaluate((s) => ((s.value = "-0.1"), s.dispatchEvent(new Event("input"))));
      await page.evaluate(() => window.abut.step(500));
      near((await pose(page, "arm"))[0], -0.1, 0.02, "the arm goes where the slider says");
      await reset(page);
      assert.equal(Number(await slider.inputValue()), 0.1, "and a reset takes the slider back with the motor");
      await page.evaluate(() => window.abut.step(500));
      near((await pose(page, "arm"))[0], 0.1, 0.02, "which then holds its place");
    });
  },

  async sliders_of_motors_reach_what_the_motors_can() {
    await withPage("servos.html", async (page) => {
      const shown = await page.locator("#actuators input").evaluateAll((list) => list.map((s) => [Number(s.min), Number(s.max)]));
      const pi = Math.PI, wanted = [[-0.03, 0.02], [-5.6, 0], [-pi, pi], [-0.4, 0.2], [-1, 5], [-3, 1], [-1, 1], [1, 2]];
      shown.forEach((s, i) => s.forEach((x, k) => near(x, wanted[i][k], 1e-9, `slider ${i}`)));
      assert.equal(shown.length, wanted.length);
    });
  },

  async friction_of_pairs_follows_the_slider() {
    await withPage("motor.html", async (page) => {
      assert.ok((await pushed(page, 0.1)) > 0.03);
      assert.ok((await pushed(page, 1)) < 0.003);
    });
  },

  async parameters_given_stay_when_something_else_is_changed() {
    await withPage("motor.html", async (page) => {
      await reset(page);
      await slide(page, "friction", 1);
      const native = JSON.parse(abut("run", file("motor.xml"), "--key", "out", "--set", "tolerance=1e-7", "--time", "0.4", "--json", "--quiet"));
      const plain = JSON.parse(abut("run", file("motor.xml"), "--key", "out", "--time", "0.4", "--json", "--quiet"));
      assert.notEqual(native.hash, plain.hash, "the parameter matters");
      const hash = () => page.evaluate(() => (window.abut.reset(), window.abut.step(200), window.abut.hash()));
      assert.equal(await hash(), native.hash);
      await slide(page, "friction", 0.5);
      await slide(page, "friction", 1);
      assert.equal(await hash(), native.hash, "after the friction was changed and set back");
      await page.locator("#model").selectOption("volume-pgs");
      await page.locator("#model").selectOption("patch");
      assert.equal(await hash(), native.hash, "and after the contact model was");
    });
  },

  async a_mouse_and_a_finger_at_once_are_kept_apart() {
    await withPage("blocks.html", async (page) => {
      await reset(page);
      const client = await page.context().newCDPSession(page);
      const touch = (type, ...points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([id, x, y]) => ({ id, x, y })) });
      const a = await spot(page, "cube");
      await page.mouse.move(20, 500);
      await page.mouse.down();  // turns the view
      await touch("touchStart", [0, 60, 450]);
      await touch("touchEnd");
      await touch("touchStart", [0, a.x, a.y]);
      assert.equal(await page.evaluate(() => window.abut.live.hands.pointers.size), 1, "the finger grabs");
      await touch("touchEnd");
      await page.mouse.up();
      // and after that the view turns by a finger
      const where = () => page.evaluate(() => window.abut.live.stage.camera.position.toArray().join());
      const before = await where();
      await touch("touchStart", [0, 20, 450]);
      for (let k = 1; k <= 5; k++) await touch("touchMove", [0, 20 + 20 * k, 450]);
      await touch("touchEnd");
      await page.waitForFunction((was) => window.abut.live.stage.camera.position.toArray().join() !== was, before, { timeout: 60000 });
    });
  },

  async fingers_grab_lift_and_throw() {
    await withPage("blocks.html", async (page) => {
      await reset(page);
      const client = await page.context().newCDPSession(page);
      const touch = (type, ...points) => client.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([id, x, y]) => ({ id, x, y })) });
      const a = await spot(page, "cube"), b = await spot(page, "other");
      await touch("touchStart", [0, a.x, a.y]);
      await touch("touchStart", [0, a.x, a.y], [1, b.x, b.y]);
      for (let k = 1; k <= 10; k++) await touch("touchMove", [0, a.x, a.y - 25 * k], [1, b.x, b.y - 25 * k]);
      await page.waitForFunction(() => ["cube", "other"].every((n) => window.abut.pose(n)[2] > 0.1), null, { timeout: 120000 });
      assert.equal(await page.evaluate(() => window.abut.live.hands.pointers.size), 2, "two fingers, two bodies");
      // One finger lets go while it moves: the body flies on, here in simulated time, which no busy machine disturbs.
      await page.evaluate(() => window.abut.pause());
      const flight = await page.evaluate(() => {
        const { live } = window.abut, [p] = [...live.hands.pointers.values()], name = live.sim.model.bodies[p.body].name;
        for (let k = 0; k < 50; k++) live.sim.move(p.hand, { x: p.point.x + 0.006 * k, y: p.point.y, z: p.point.z }), window.abut.step(1);
        live.hands.releaseAll();
        const from = window.abut.pose(name)[0];
        window.abut.step(20);
        return window.abut.pose(name)[0] - from;
      });
      assert.ok(flight > 0.04, `thrown, it flies on: ${flight} m in 0.04 s`);  // the hand moved at 3 m/s
      await touch("touchEnd");
      assert.equal(await page.evaluate(() => window.abut.live.hands.pointers.size), 0);
    });
  },

  async keys_work_whatever_was_clicked_last() {
    await withPage("blocks.html", async (page) => {
      await reset(page);
      await page.locator("#friction").click();
      await slide(page, "friction", 1);
      await page.keyboard.press("ArrowRight");
      near(await time(page), 0.002, 1e-9, "a single step after a slider was moved by the mouse");
      await page.locator("#one").click();
      near(await time(page), 0.004, 1e-9);
      await page.keyboard.press("Space");
      await page.waitForFunction(() => window.abut.live.playing);
      await page.keyboard.press("Space");
      assert.equal(await page.evaluate(() => window.abut.live.playing), false, "space plays and pauses, once a press");
      await page.keyboard.press("R");  // with caps lock
      assert.equal(await time(page), 0);
      // A button reached by the keyboard is pressed by it.
      await page.locator("#one").focus();
      await page.keyboard.press("Space");
      near(await time(page), 0.002, 1e-9, "space presses the button that has the focus");
      assert.equal(await page.evaluate(() => window.abut.live.playing), false);
      await page.locator("#friction").focus();
      const before = await page.locator("#friction").inputValue();
      await page.keyboard.press("ArrowRight");
      assert.ok((await page.locator("#friction").inputValue()) > before, "and a slider moves");
      await slide(page, "friction", 1);
      await page.evaluate(() => document.activeElement.blur());
    });
  },

  // Everything can be reached, nothing covers anything else, all bodies are in the picture.
  async it_fits_on_a_telephone() {
    abut("live", "scenes/demo.xml", file("fit.html"), "--step", "0.004");
    for (const [width, height] of [[390, 844], [844, 390], [1440, 860], [1280, 720], [1024, 640], [320, 568]]) {
      const { page, trouble, close } = await openPage(file("fit.html"), { width, height });
      try {
        await page.waitForFunction(() => window.abut, null, { timeout: 120000 });
        const outside = () => page.evaluate(() => [...document.querySelectorAll("#bar > *, #side, #side > *, #head")].filter((e) => e.offsetParent !== null || e.id === "side")
          .filter((e) => getComputedStyle(e).display !== "none").map((e) => [e.id || e.textContent.trim(), e.getBoundingClientRect()])
          .filter(([id, r]) => r.width > 0 && (r.left < -1 || r.right > innerWidth + 1 || (!document.getElementById("side").contains(document.getElementById(id)) && (r.top < -1 || r.bottom > innerHeight + 1))))
          .map(([id]) => id));
        assert.deepEqual(await outside(), [], `${width} x ${height}`);
        if (width >= 1280) assert.ok((await page.locator("#bar").boundingBox()).height < 60, `one row of buttons at ${width} x ${height}`);
        const lost = await page.evaluate(() => {
          const { live } = window.abut;
          return live.sim.moving.map((b) => live.sim.model.bodies[b].name).filter((name) => {
            const p = live.stage.center.clone().set(...window.abut.pose(name).slice(0, 3)).project(live.stage.camera);
            return Math.abs(p.x) > 1 || Math.abs(p.y) > 1;
          });
        });
        assert.deepEqual(lost, [], `bodies outside of ${width} x ${height}`);
        if (!(await page.locator("#side").isVisible())) await page.locator("#show-side").click();
        assert.ok(await page.locator("#model").isVisible(), "the panel opens");
        const over = await page.evaluate(() => {
          const side = document.getElementById("side").getBoundingClientRect(), bar = document.getElementById("bar").getBoundingClientRect();
          return side.bottom > bar.top || side.top < 0;
        });
        assert.equal(over, false, "and covers no buttons");
        assert.deepEqual(await outside(), []);
        assert.deepEqual(trouble, []);
      } finally {
        await close();
      }
    }
  },

  async far_away_there_is_a_floor_and_nothing_hides_behind_what_is_not_seen() {
    await withPage("far.html", async (page) => {
      await reset(page);
      await page.waitForFunction(() => !window.abut.live.dirty);
      const seen = await page.evaluate(() => {
        const { stage } = window.abut.live, gl = stage.renderer.getContext(), [w, h] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
        stage.render();
        return [[0, 0, 0.1], [0.05, -0.05, 0.05], [0.08, 0.02, 0], [-0.12, -0.12, 0]].map(([x, y, z]) => {
          const p = stage.center.clone().set(1000 + x, -2000 + y, z).project(stage.camera), rgba = new Uint8Array(4);
          gl.readPixels(Math.round(((p.x + 1) / 2) * w), Math.round(((p.y + 1) / 2) * h), 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, rgba);
          return [...rgba].slice(0, 3);
        });
      });
      const [top, edge, shade, floor] = seen, text = JSON.stringify(seen);
      for (const [r, , b] of [top, edge]) assert.ok(b > 2 * r, `the blue cube: ${text}`);
      assert.ok(Math.min(...floor) > 200 && Math.max(...floor) < 231 && Math.max(...floor) - Math.min(...floor) < 8, `the floor, not the sky: ${text}`);
      assert.ok(Math.min(...shade) > 150 && Math.max(...shade) < floor[0] - 10, `the cube's shadow: ${text}`);
      // The ball that is not seen is not grabbed either.
      assert.equal(await page.evaluate(() => {
        const { stage, hands } = window.abut.live, p = stage.center.clone().set(1000, -2000, 0.18).project(stage.camera);
        return hands.pick(((p.x + 1) / 2) * innerWidth, ((1 - p.y) / 2) * innerHeight);
      }), null);
    });
  },

  async wrong_words_of_scripts_are_refused() {
    await withPage("motor.html", async (page) => {
      await reset(page);
      const said = (words) => page.evaluate((w) => {
        try {
          return String(new Function(`return window.${w}`)());
        } catch (error) {
          return `refused: ${error.message}`;
        }
      }, words);
      for (const n of ["-1", "1.5", "NaN", "'3'", "null"]) assert.match(await said(`abut.step(${n})`), /^refused: .*whole numbers/, n);
      for (const k of ["1", "-2", "NaN", "'nowhere'", "null"]) assert.match(await said(`abut.reset(${k})`), /^refused: there is no keyframe/, k);
      for (const b of ["-1", "1.5", "99", "'nobody'", "null"]) assert.match(await said(`abut.pose(${b})`), /^refused: there is no body/, b);
      assert.equal(await time(page), 0);
      assert.ok(await page.locator("#message").isHidden(), "and the page goes on as it was");
      assert.equal(await said("abut.step(0)"), "true");
      for (const [key, x] of [["'out'", 0.1], ["-1", 0], ["0", 0.1]]) {
        await said(`abut.reset(${key})`);
        near((await pose(page, "arm"))[0], x, 1e-12, `keyframe ${key}`);
      }
    });
  },

  async contacts_are_told_and_plotted() {
    await withPage("blocks.html", async (page) => {
      await reset(page);
      await page.evaluate(() => window.abut.step(100));
      const [contact] = await page.evaluate(() => window.abut.contacts);
      near(contact.normal, 0.5 * 9.81, 1e-2 * 0.5 * 9.81, "a resting block weighs what it weighs");
      near(contact.area, 0.01, 1e-6, "and touches over its face");
      assert.equal(contact.mode, "stick");
      assert.equal(await page.locator("#table tbody tr").count(), 2);
      assert.match(await page.locator("#plot-title").innerText(), /cube|other/);
    });
  },

  async the_page_survives_a_resize_and_a_lost_context() {
    await withPage("blocks.html", async (page) => {
      await reset(page);
      await page.evaluate(() => window.abut.play());
      await page.setViewportSize({ width: 700, height: 500 });
      await page.waitForTimeout(200);
      await page.setViewportSize({ width: 1440, height: 860 });
      const lost = await page.evaluate(async () => {
        const gl = window.abut.live.stage.renderer.getContext(), ext = gl.getExtension("WEBGL_lose_context");
        ext.loseContext();
        await new Promise((r) => setTimeout(r, 300));
        const t = window.abut.time;
        ext.restoreContext();
        await new Promise((r) => setTimeout(r, 300));
        return { t, lost: gl.isContextLost() };
      });
      assert.equal(lost.lost, false);
      await page.waitForFunction((t) => window.abut.time > t + 0.05, lost.t, { timeout: 120000 });
      await page.evaluate(() => window.abut.pause());
      assert.ok((await colours(page)) > 100, "it draws again");
      // a lost context is told by the browser and by three.js; that is no complaint about the page
      opened.trouble.splice(0, opened.trouble.length, ...opened.trouble.filter((t) => !/context/i.test(t)));
    });
  },

  async a_hundred_resets_leave_no_trace() {
    await withPage("blocks.html", async (page) => {
      await reset(page);
      const { hashes, grown } = await page.evaluate(() => {
        const seen = new Set(), bytes = () => window.abut.live.sim.wasm.memory.buffer.byteLength;
        let before = 0;
        for (let i = 0; i < 100; i++) {
          window.abut.reset();
          window.abut.step(20);
          seen.add(window.abut.hash());
          if (i === 0) before = bytes();
        }
        return { hashes: seen.size, grown: bytes() - before };
      });
      assert.equal(hashes, 1, "each run is the same");
      assert.equal(grown, 0, "and takes no new memory");
    });
  },

  async a_gamepad_moves_the_body_grabbed_last() {
    await withPage("blocks.html", async (page) => {
      await reset(page);
      await page.evaluate(() => {
        window.rumbles = 0;
        const button = (value) => ({ value, pressed: value > 0 });
        window.pad = { axes: [0, 0, 0, 0], buttons: Array.from({ length: 8 }, () => button(0)),
          vibrationActuator: { playEffect: async () => void window.rumbles++ } };
        Object.defineProperty(navigator, "getGamepads", { configurable: true, value: () => [window.pad] });
        window.abut.live.devices.take(window.abut.live.sim.body("cube"));
        window.pad.buttons[7] = button(1);  // the right trigger lifts
      });
      await page.waitForFunction(() => window.abut.pose("cube")[2] > 0.1, null, { timeout: 120000 });
      await page.evaluate(() => {
        window.pad.buttons[7] = { value: 0, pressed: false };
        window.pad.buttons[0] = { value: 1, pressed: true };  // lets go
      });
      await page.waitForFunction(() => window.abut.pose("cube")[2] < 0.07, null, { timeout: 120000 });
      await page.evaluate(() => {
        Object.defineProperty(navigator, "getGamepads", { configurable: true, value: () => [] });
        window.abut.pause();
      });
    });
  },

  async the_gallery_has_every_scene_with_a_picture() {
    execFileSync("tools/gallery.py", [program, file("gallery")], { encoding: "utf8" });
    const { page, trouble, close } = await openPage(file("gallery/index.html"));
    try {
      const shown = await page.locator("li a").evaluateAll((list) => list.map((a) => [a.getAttribute("href").replace(".html", ""), a.querySelector("img").naturalWidth > 0]));
      const scenes = readdirSync("scenes").filter((name) => name.endsWith(".xml")).map((name) => name.replace(".xml", ""));
      assert.deepEqual(shown.map(([name]) => name).sort(), scenes.sort());
      assert.deepEqual(shown.filter(([, drawn]) => !drawn), []);
      assert.deepEqual(trouble, []);
    } finally {
      await close();
    }
  },

  async a_step_that_breaks_down_says_why() {
    await withPage("break.html", async (page) => {
      const message = page.locator("#message");
      await page.locator("#play").click();
      await page.waitForFunction(() => !document.getElementById("message").hidden);
      assert.match(await message.innerText(), /'stone' would move beyond all bounds/);
      assert.equal(await page.evaluate(() => window.abut.live.playing), false);
      await page.mouse.click(60, 300);
      assert.ok(await message.isHidden(), "who clicks has read it");
      assert.equal(await page.evaluate(() => window.abut.step()), false);
      assert.ok(await message.isVisible());
      await page.evaluate(() => window.abut.reset());
      assert.ok(await message.isHidden(), "a reset takes it away");
      assert.equal(await time(page), 0);
    });
  },

  async a_damaged_page_says_so() {
    const text = readFileSync(file("blocks.html"), "latin1");
    const at = text.indexOf('id="abut-scene">') + 200;
    writeFileSync(file("damaged.html"), text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1), "latin1");
    const { page, close } = await openPage(file("damaged.html"));
    try {
      await page.waitForFunction(() => /cannot be simulated/.test(document.getElementById("message").textContent));
      assert.match(await page.locator("#message").innerText(), /damaged/);
    } finally {
      await close();
    }
  },
};

function near(a, b, tolerance, what) {
  assert.ok(Math.abs(a - b) <= tolerance, `${what}: ${a} is not ${b} (tolerance ${tolerance})`);
}

let opened = null;
async function withPage(name, work) {
  if (opened?.name !== name) {
    await opened?.close();
    opened = { name, ...(await openPage(file(name))) };
    await opened.page.waitForFunction(() => window.abut, null, { timeout: 120000 });
  }
  await work(opened.page);
  // What was made before the context was lost is freed some time after it: the browser notes it and does nothing.
  const trouble = opened.trouble.filter((t) => !t.endsWith("delete: object does not belong to this context"));
  assert.deepEqual(trouble, [], "the browser complains about nothing and asks the network for nothing");
}

const time = (page) => page.evaluate(() => window.abut.time);
const pose = (page, body) => page.evaluate((b) => window.abut.pose(b), body);
const reset = (page) => page.evaluate(() => (window.abut.pause(), window.abut.reset()));
const slide = (page, id, value) => page.locator(`#${id}`).evaluate((slider, v) => {
  slider.value = String(v);
  slider.dispatchEvent(new Event("input"));
}, value);

// Where a body's centre of mass is on the screen, once the picture shows it.
// How far the cube, pushed by 0.45 times 0.5 of its weight, has gone after 100 steps with friction times this.
async function pushed(page, factor) {
  await reset(page);
  await slide(page, "friction", factor);
  return page.evaluate(() => {
    const { sim } = window.abut.live;
    sim.freeHand();
    sim.grab(0, sim.body("cube"), { x: 0, y: 0, z: 0.05 }, 40, 0.45 * 0.5 * 9.81);
    sim.move(0, { x: 1, y: 0, z: 0.05 });
    window.abut.step(100);
    const x = window.abut.pose("cube")[0];
    sim.release(0);
    return x;
  });
}

async function spot(page, body) {
  await page.waitForFunction(() => !window.abut.live.dirty);
  return page.evaluate((name) => {
    const { live } = window.abut, [x, y, z] = window.abut.pose(name);
    const p = live.stage.center.clone().set(x, y, z).project(live.stage.camera);
    return { x: ((p.x + 1) / 2) * innerWidth, y: ((1 - p.y) / 2) * innerHeight };
  }, body);
}

const colours = (page) => page.evaluate(() => {
  const { stage } = window.abut.live;
  stage.render();
  const gl = stage.renderer.getContext(), w = gl.drawingBufferWidth, h = gl.drawingBufferHeight;
  const d = new Uint8Array(4 * w * h), seen = new Set();
  gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, d);
  for (let i = 0; i < d.length; i += 4) seen.add((d[i] << 16) | (d[i + 1] << 8) | d[i + 2]);
  return seen.size;
});

const failed = await runTests(tests, process.argv[4]);
await opened?.close();
process.exit(failed ? 1 : 0);
