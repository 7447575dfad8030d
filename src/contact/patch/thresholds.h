// Every threshold of the model `patch`, each with what breaks when it is changed. Parameters that
// users may set stand in patch.c.
#ifndef ABUT_CONTACT_PATCH_THRESHOLDS_H
#define ABUT_CONTACT_PATCH_THRESHOLDS_H

// --- the law

// A patch slides when more than half of its load moves faster than this many times slip_speed: well
// above what the bristle's own motion reaches under a load that is slowly raised.
#define AB_PATCH_SLIDING 4.0
// The bristle of a patch that does not slide may grow to this many times the length of first
// saturation: the last per cent of the limit surface is reached so, all with zero velocity.
#define AB_PATCH_BRISTLE 20.0
// The load that bounds friction is right when it differs from the normal impulse by no more than
// this share; the reported residual counts it so that this is the default tolerance.
#define AB_PATCH_GAP 1e-3
// Friction of a sliding patch acts where its pressure does, to this share of its radius where it is
// the only contact: a puck on tiles turns by the sum of what is left. Elsewhere AB_PATCH_GAP does.
#define AB_PATCH_OFFSET 1e-9
// The same in an impact: the force of a corner that strikes is the same for a free and a jointed
// body.
#define AB_PATCH_OFFSET_IMPACT 1e-7
// Depth at rest, as a share of the thinner body, that no load may exceed: stiffness follows.
#define AB_PATCH_DEPTH 1e-6
// A contact is as stiff as its load wants it in the same step where that is more than this many
// times what was foreseen. Larger: what is struck through others lies deep; smaller: time only.
#define AB_PATCH_UNFORESEEN 2.0
// Depth is taken back with this part of the speed that counts as one at the deepest corner, some 25
// times what a body at rest needs there: as much as one needs that stands nearly on an edge.
#define AB_PATCH_LIFT 5e-3
// And with this part of it in the middle of the patch, where it lifts the whole load: more would
// show as energy in a tower that has just been put up, all of whose contacts lift all that is above
// them.
#define AB_PATCH_LIFT_ALL 5e-4
// Depth that nothing else explains is taken back within the time in which bodies fall by their
// size, and within the first of these [s], or the second where there is no gravity. Larger: where
// there is next to none it stays.
#define AB_PATCH_RECOVERY_TIME 1.0
#define AB_PATCH_WEIGHTLESS_TIME 0.1
// What bodies began with at this share of the speed of such a fall. Larger: they hop; smaller:
// time.
#define AB_PATCH_RISES 0.7
// But what is less deep than this part of the thinner body, as a face that lands turning is, the
// more slowly the less it is: nobody sees it, but as energy it would be seen.
#define AB_PATCH_SHALLOW 4e-3
// Who turns by more than this angle in a step tumbles: neither his last step nor the mean of two
// velocities tells where he is.
#define AB_PATCH_TUMBLES 0.2
// And turns joints no faster than this [rad/s]: a joint whose axis nearly meets the normal would
// have to turn at any speed.
#define AB_PATCH_TURN 3.0
// Stiffness follows the load up to this factor. Without an end, a load that grows with the
// stiffness grows for ever.
#define AB_PATCH_FIRMEST 1e6
// Target velocity [m/s] of a contact that is not to press.
#define AB_PATCH_NEVER_PRESSES -1e9
// A rebound slower than this many times what the free motion changes in a step is rest. Smaller: a
// ball never comes to rest; larger: its last bounces are missing.
#define AB_PATCH_REBOUND 0.1
// Corners that are as near as this share of the thinner body when the first of them strikes strike
// at once. Smaller: a face that lands flat but for rounding is thrown over by its first corner;
// larger: so is no face that lands turning.
#define AB_PATCH_AT_ONCE 1e-3
// With less of the step left than this share after the impulse, what the other corners do after it
// is not seen. Larger: corners that strike second are let in; smaller: they are thrown out.
#define AB_PATCH_TIME_LEFT 0.05
// An impact is faster than this many times what the loads of a step explain. Smaller: what slowly
// comes down is moved about.
#define AB_PATCH_STRIKES 4.0
// Rounds in which a rebound that gains energy is lowered.
enum { AB_PATCH_MOST_LOWERED = 8 };
// Depth taken back may add this share of the kinetic energy and this share of what a step's fall
// from rest gives. Larger: it is seen as energy; smaller: depth stays.
#define AB_PATCH_GAIN 5e-7
#define AB_PATCH_GAIN_FALL 5e-3
// A contact that rolls by more than this angle about a body in a step. Smaller: what only rolls
// loses energy; larger: what rolls on its rim, nearly flat, gains some.
#define AB_PATCH_SWEEPS 0.05
// A gain of which less than this share is the work of depth taken back has another cause.
#define AB_PATCH_GAIN_LEFT 0.01
// Recovery that was slowed down may be this many times as fast in the next step. Larger: most steps
// are solved twice; smaller: depth stays for longer.
#define AB_PATCH_SPED_UP 1.1
// And begins with at least this share. Smaller: what could take nothing back once never will.
#define AB_PATCH_SLOWEST 0.05
// Rounds in which recovery is slowed down. Fewer: some of the gain is left.
enum { AB_PATCH_MOST_SLOWED = 5 };
// A contact that begins deeper than this share of the thinner body, and than its motion explains,
// was put there; it has come out where no more is left than the other.
#define AB_PATCH_SUNK 1e-3
#define AB_PATCH_OUT 1e-5

// --- the area

// Vertices that hardly bend the border cut off at most this share of the area each. Larger: the
// limit curve is off by as much; smaller: corners come and go with the least motion.
#define AB_PATCH_HARDLY_BENT 1e-4
// Regions whose principal moments differ by more than this are not integrated about a pole.
// Smaller: what cancellation leaves is noise, which Newton's method cannot solve; larger: a thin
// patch that turns has a torque that is off by per cents.
#define AB_PATCH_SLENDER 1e-5
// The place of the pressure is kept off the border by this share of the way to the centroid.
// Smaller: the pressed region has no size left; larger: bodies tip too early.
#define AB_PATCH_BORDER 1e-3
// Most steps for the pressure's field, and when its centre is near enough, in its own radii: the
// rest is moved (abPatchLaw.at). Smaller: time only; larger: friction's torque is that of another
// spread.
enum { AB_PATCH_FIELD_STEPS = 8 };
#define AB_PATCH_NEAR_CENTRE 0.05
// Squared distance of the pole, in radii of the pressure, beyond which the rule is exact to less
// than any tolerance. Farther out the integral about the pole loses by cancellation.
#define AB_PATCH_FAR_POLE 2500
// The same of a line. Nearer, the rule of four points is off by more than rounding.
#define AB_PATCH_FAR_LINE 1000

// --- from step to step

// Where friction acts: of a patch that sticks this share of the new place is taken over. More: a
// patch high up on a pile, which answers with several times the change, oscillates; it comes to
// rest as long as that factor is below 2 / AB_PATCH_TAKEN_OVER - 1.
#define AB_PATCH_TAKEN_OVER 0.25
// A drift beyond this many times what the velocities explain is that of another motion. Smaller:
// what is carried round slips; larger: impacts leave a drift behind that moves bodies.
#define AB_PATCH_EXPLAINED 4.0
// Share of turning against each other at which the drift along the normal has faded out. Larger:
// what rocks gains energy; smaller: what is carried round sinks in.
#define AB_PATCH_ROCKS 0.1
// The mean of two velocities moves bodies whose contacts change them by less than this many times
// g h, and more than that share of it. Larger: impacts are moved by it; smaller: bodies at rest by
// rounding.
#define AB_PATCH_SHIFT_CALM 2.0
#define AB_PATCH_SHIFT_UNSEEN 1e-9

// --- what joints hold (hold.c)

// A contact is at most as stiff as if its bodies were heavier by 1 / AB_PATCH_HELD. Smaller: forces
// without bound, of rounding.
#define AB_PATCH_HELD 1e-2
// Below this share of the least mobility pressing moves nothing at all.
#define AB_PATCH_CANNOT_OPEN 1e-6
// Turns of the joints [rad] beyond which a depth is not taken back, if it is deeper than this share
// of the thinner body, so that a cam at its dead centre presses on; it has opened when less than a
// tenth of that is left, or of what it was.
#define AB_PATCH_TURN_TO_OPEN 1.0
#define AB_PATCH_OUT_OF_REACH 1e-2
// A contact begins deep beyond this share. Smaller: feet some millimetres in the floor do not come
// up.
#define AB_PATCH_BEGINS_DEEP 0.1
// The depth at which it rests follows the bodies when they part by more than this share of the
// thinner one. Smaller: contacts that press against each other take over in turn what the others
// give way by, and wedge their bodies.
#define AB_PATCH_REST_FOLLOWS 1e-4
// Depth that nothing explains is taken back in vain with this many times the weight of what the
// contact moves, and as many times what gives it the speed of that. Larger: links that jam are
// pushed through a dead centre, with energy from nowhere. Smaller: feet of heavy robots stay some
// millimetres in the floor.
#define AB_PATCH_JAMMED 100.0
// That below AB_PATCH_OUT_OF_REACH in inverse proportion to the depth, and never where it is less
// than this share of the thinner body: a hundred times what the largest load leaves. Larger: a link
// that its joint's limit or friction holds is pressed ever harder, to any force; smaller: grips
// count as jams.
#define AB_PATCH_JAMS 1e-4
#define AB_PATCH_HARDER 10.0
// Who presses more than this many times what would move its own bodies out is in an overlap that
// contradicts another. Larger: forces as large.
#define AB_PATCH_TOO_MUCH 1e3

// --- the solver

// What is left of a step, as shares of the tolerance: where nothing strikes little, since it adds
// up over thousands of steps; in an island of AB_PATCH_FEW contacts that slide hardly anything,
// since friction turns with its direction.
#define AB_PATCH_CALM_SHARE 1e-3
#define AB_PATCH_STRIKING_SHARE 0.1
enum { AB_PATCH_FEW = 1 };
#define AB_PATCH_FEW_SHARE 1e-6
// Steps with each contact relaxed. More: time only; fewer: heaps need the slow way.
enum { AB_PATCH_MOST_RELAXED = 24 };
// In the first of them a contact begins where the last step left it if its velocity has changed by
// less than this share of its unit. Larger: those that strike begin far off; smaller: what slowly
// slides and turns takes twice the steps.
#define AB_PATCH_GOES_ON 0.1
// Velocities that contacts change by more than this many times (squared) what the free motion, the
// targets and the loads have: such steps run away. Smaller: rebounds and bad starts are taken for
// that; larger: rounding of what they passed through stays in the result.
#define AB_PATCH_RUNS_AWAY 1e4
// Or until the residual is this small.
#define AB_PATCH_RELAXED 0.2
// Or until so many steps have not halved the way that the contacts alone would go, as an energy.
// Fewer: heaps that fall take the slow way too soon; more: towers, where each contact supports the
// next, are taken apart and have to be put together again.
enum { AB_PATCH_STALE = 3 };
// Each contact alone: how much stiffer than its own bodies its surroundings are taken. Softer: full
// steps oscillate; stiffer: they are short.
#define AB_PATCH_STIFFER 1.5
// Its solution is known to this share of its unit speed. Larger: the law is linearised at twists
// that nobody has, and a step of the island goes astray; smaller: time only.
#define AB_PATCH_NEAR_ENOUGH 0.02
// Most steps, rounds and halvings.
enum { AB_PATCH_LOCAL_STEPS = 12, AB_PATCH_LOCAL_ROUNDS = 8, AB_PATCH_LOCAL_CUTS = 5 };
// A residual that counts as near zero.
#define AB_PATCH_NEAR 1e-2
// The loads of an island with joints are right to this, at rest and where it moves: they converge
// as Newton's method does. Larger: standing robots creep.
#define AB_PATCH_DIRECT_GAP 1e-7
#define AB_PATCH_MOVING_GAP 1e-5
// Most contacts of an island whose loads are solved for at once, and most times that loads follow.
enum { AB_PATCH_MOST_DIRECT = 24, AB_PATCH_MOST_FOLLOWED = 60 };
// How often they follow without waiting. After that each change waits until the residual is near
// zero, and is a part of what is wanted that shrinks from one to the next, until the residual stays
// there. Fewer: heaps of a thousand need up to twice the steps; more: two or three contacts that
// wedge each other in go round in circles for as long.
enum { AB_PATCH_BOLD = 25, AB_PATCH_BOLD_DIRECT = 4 };
// A step shorter than this goes uphill with the loads it leads to: the next one leaves them alone.
// Smaller: step after step is as short; larger: loads lag behind.
#define AB_PATCH_HARDLY_MOVES 1e-2
// Loads of the last step as good as this are left alone until the forces are nearly balanced, or so
// many steps; and how often loads that are right to the tolerance are followed on.
#define AB_PATCH_GOOD_LOADS 1e-2
enum {
  AB_PATCH_LATEST_RENEWAL = 8,
  AB_PATCH_MOST_ACCEPTED = 3,
  AB_PATCH_MOST_ACCEPTED_DIRECT = 12
};
// A contact whose part in the slope at the end of a step is as its derivative said, but for this
// share of the whole slope at the beginning, is taken for linear by the line search.
#define AB_PATCH_STRAIGHT 1e-6
// The slow way (passes.c): passes, steps of each, how many are combined, and after how many that
// brought nothing better they begin anew. Fewer: jammed rods stay unsolved.
enum {
  AB_PATCH_MOST_PASSES = 120,
  AB_PATCH_PASS_STEPS = 40,
  AB_PATCH_PASS_DEPTH = 5,
  AB_PATCH_PASS_PATIENCE = 8
};
// Rows (rows.c): rounds in which all branches change at once, of all, and halvings of a step.
enum { AB_PATCH_ROW_BOLD = 3, AB_PATCH_ROW_ROUNDS = 12, AB_PATCH_ROW_CUTS = 60 };

// --- threads: time only

// Islands with more contacts are solved by all threads, one after the other, and their loops shared
// from this many on: with fewer, waking the threads takes longer than the loop.
enum { AB_PATCH_LARGE = 64, AB_PATCH_WORTH_SHARING = 1024 };

#endif
