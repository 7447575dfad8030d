#!/usr/bin/env python3
"""Writes the live pages of all demo scenes and an index: tools/gallery.py PATH_TO_ABUT OUT_FOLDER

The pictures are in doc/live; tools/gallery-pictures.mjs takes them.

What is said of other simulators is what `make bench` measures; bench/README.md has the figures."""
import base64
import html
import pathlib
import subprocess
import sys

# scene, options, heading, what to try, what others do there
SCENES = [
    ("demo", ["--step", "0.004"], "Tower, dominoes, coin",
     "Draw a plank out of the tower, throw the striker at it, or start from the keyframe go.",
     "Choose point-pgs or point-penalty, which know points only, and compare how the tower stands."),
    ("box_on_plane", [], "A box on the floor",
     "Push it low, then high: it slides, then topples. Its patch moves to the edge before it does.",
     "At 0.8 of the force that makes it slide, MuJoCo's default creeps by 2 mm/s, Bullet's by 6 mm/s (bench, case C)."),
    ("slide", ["--key", "slide", "--step", "0.004"], "A sliding cube",
     "Let it slide, and watch its heading. Choose point-pgs and compare.",
     "After 10.6 m MuJoCo's default is 1.7 m off the line, the pyramids of ODE and DART 1 m; Bullet's best setting keeps it (bench, case A)."),
    ("top", ["--key", "spin"], "A spinning disc",
     "Let it spin out, then turn it by its rim: friction resists turning by 2/3 of mu m g r.",
     "Points have this torque only where they happen to stand: for a square patch MuJoCo's default is 31 % off (bench, case C)."),
    ("ramp", [], "Two boxes on a ramp",
     "Move the slider for friction until the one that holds lets go.",
     "Choose volume-penalty or point-penalty, whose contacts are springs and dampers, and watch whether the box stays."),
    ("stack10", [], "Ten cubes",
     "Lift a cube from the middle, or push the lowest one out.",
     "The floor's force under twenty such cubes chatters by 5e-3 in Bullet and 3e-13 here; ODE's direct solver is as still (bench, case F)."),
    ("seven_bricks", [], "Seven bricks",
     "Build something. Each brick weighs one gramme, and the hand is as weak.",
     "The stack of Zhang et al.: choose volume-pgs, their model, or point-pgs, the one they compare with."),
    ("dominoes", ["--step", "0.002"], "Dominoes",
     "Stop the wave with a finger, then let it go on.",
     "A row of points cannot tell an edge from a face; the patches here do. That costs: MuJoCo takes a quarter of the time, Bullet a tenth (bench, scenes)."),
    ("coin", ["--key", "spin"], "A coin on its edge",
     "Let it clatter to rest, then flip it up by its rim.",
     "The last rattle is where the step shows: make it larger and see how much is lost. MuJoCo takes an eighth of the time (bench, scenes)."),
    ("stick_slip", ["--key", "pull"], "Stick and slip",
     "Watch the plot of the block: it sticks, slips 31 mm, and sticks again.",
     "It needs a static friction above the kinetic one; of the peers in the bench Simbody has both (case G)."),
    ("gripper_pinch", ["--key", "grip"], "A gripper",
     "Pull at the box, turn it between the fingers, or open them with the sliders.",
     "Two single points hold no torque about the line between them; two areas do."),
    ("gears", [], "Gears",
     "Hold one of them: the teeth carry the torque. The cube rides on the left one.",
     "Hasegawa & Sato's sample scene: teeth meet along lines. MuJoCo takes as long (bench, scenes)."),
    ("insect", [], "An insect",
     "Grab it by a leg, and move its joints with the sliders.",
     "Hasegawa & Sato's sample scene: 27 joints, six feet. MuJoCo takes 0.6 of the time (bench, scenes)."),
    ("arm_place", ["--key", "start"], "An arm that places a box",
     "Move its joints with the sliders. Pull at its hand with all the strength there is: the servos give way a little, like springs.",
     "Wakisaka & Sugihara's sample scene. Standing still, MuJoCo takes as long (bench, scenes)."),
    ("quadruped", ["--key", "home"], "A quadruped",
     "Push it, lift it by a leg, put it on the boxes: its servos hold the pose. The sliders move them.",
     "Choose point-penalty, whose contacts are springs and dampers, and watch its feet."),
    ("stacker", ["--key", "home"], "An arm with a hand, and three blocks",
     "Bring a block between the fingers, close them with the sliders, lift it by the arm's, and build.",
     "Two single points hold no torque about the line between them; two areas do."),
    ("six_blocks", [], "Six blocks and two plates",
     "With two fingers, or two hands on two devices: pinch a block between the plates, lift it, put it on another.",
     "The experiment of Hasegawa & Sato, whose penalty method is volume-penalty; abut haptic runs it with hands that feel."),
    ("pendulum", ["--key", "high"], "A double pendulum",
     "Hold the ball, let it go, and see how soon two starts that look alike part.",
     "No contacts here: MuJoCo takes twice the time, Bullet and ODE as much (bench, scenes)."),
    ("pile", [], "A pile of sixty blocks",
     "Dig one out.",
     "While a pile falls, MuJoCo takes a third of the time, Bullet a fifth, ODE a quarter (bench, scenes)."),
    ("pile200", ["--step", "0.005"], "Two hundred blocks",
     "Let them fall, then pull one out from below. Slower than real time: the bar says by how much.",
     "Bullet takes a sixteenth of the time here, ODE a twelfth, MuJoCo less than half (bench, scenes)."),
]

STYLE = """body { font: 15px/1.5 system-ui, sans-serif; color: #1f2733; background: #e8ecf1; margin: 0; }
main { max-width: 980px; margin: 0 auto; padding: 28px 20px; }
p.lead { color: #4d5765; max-width: 70ch; }
ul { list-style: none; padding: 0; display: grid; grid-template-columns: repeat(auto-fill, minmax(290px, 1fr)); gap: 14px; }
a { display: block; height: 100%; box-sizing: border-box; background: #fff; border-radius: 12px; overflow: hidden;
    color: inherit; text-decoration: none; border: 1px solid rgba(31, 39, 51, .1); }
img { display: block; width: 100%; aspect-ratio: 8 / 5; object-fit: cover; background: #dfe4ea; }
div { padding: 12px 16px 14px; }
a:hover, a:focus-visible { border-color: #2563c9; }
b { font-size: 16px; } span { display: block; margin-top: 4px; } span.others { color: #5b6573; font-size: 13px; }"""


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    abut, out = sys.argv[1], pathlib.Path(sys.argv[2])
    root = pathlib.Path(__file__).resolve().parent.parent
    out.mkdir(parents=True, exist_ok=True)
    cards = []
    for scene, options, heading, to_try, others in SCENES:
        command = [abut, "live", str(root / "scenes" / f"{scene}.xml"), str(out / f"{scene}.html"), *options,
                   "--title", heading, "--text", to_try, "--home", "index.html", "--quiet"]
        if subprocess.run(command).returncode:
            return 2
        text = [html.escape(t) for t in (heading, to_try, others)]
        picture = (root / "doc" / "live" / f"{scene}.jpg").read_bytes()
        cards.append(f'<li><a href="{scene}.html"><img alt="" src="data:image/jpeg;base64,{base64.b64encode(picture).decode()}">'
                     f'<div><b>{text[0]}</b><span>{text[1]}</span><span class="others">{text[2]}</span></div></a></li>')
    page = f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>abut live</title><style>{STYLE}</style>
<main><h1>abut live</h1>
<p class="lead">Scenes to touch. Grab a body with the mouse or a finger and lift, push or throw it; drag beside it to turn the view.
Everything runs in this page: no server, no network. What is said of other simulators is measured by <code>make bench</code>.</p>
<ul>
{chr(10).join(cards)}
</ul></main>
"""
    (out / "index.html").write_text(page, encoding="utf-8")
    print(f"Open {out}/index.html in a browser: {len(cards)} scenes to touch.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
