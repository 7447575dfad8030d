// How hands are drawn: a line from where each holds its body to where it draws to.
import * as THREE from "three";

const COLOR = "#7b3fc4", MOST = 8;

export class HandPicture {
  constructor(stage) {
    this.stage = stage;
    const material = new THREE.MeshBasicMaterial({ color: COLOR, transparent: true, opacity: 0.85, depthTest: false, toneMapped: false, fog: false });
    const make = (geometry) => {
      const mesh = new THREE.Mesh(geometry, material);
      mesh.visible = false, mesh.renderOrder = 30, mesh.frustumCulled = false;
      stage.scene.add(mesh);
      return mesh;
    };
    const ball = new THREE.SphereGeometry(1, 12, 8), rod = new THREE.CylinderGeometry(1, 1, 1, 8, 1, true).translate(0, 0.5, 0);
    this.sets = Array.from({ length: MOST }, () => ({ line: make(rod), grip: make(ball), target: make(ball) }));
  }

  // hands: { grip, target } each, in world coordinates
  draw(hands) {
    const { size } = this.stage;
    this.sets.forEach(({ line, grip, target }, i) => {
      line.visible = grip.visible = target.visible = i < hands.length;
      if (!line.visible) return;
      const a = new THREE.Vector3(...hands[i].grip), b = new THREE.Vector3(...hands[i].target);
      const d = b.clone().sub(a), length = d.length();
      grip.position.copy(a), grip.scale.setScalar(0.011 * size);
      target.position.copy(b), target.scale.setScalar(0.007 * size);
      line.position.copy(a), line.scale.set(0.0035 * size, Math.max(length, 1e-9), 0.0035 * size);
      if (length > 0) line.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), d.divideScalar(length));
    });
  }
}
