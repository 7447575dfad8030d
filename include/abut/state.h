// The whole state of a simulation as one block of bytes, and as a copy.
//
// The state is time, q, v, ctrl, applied, what the contact model remembers of each pair, and who
// sleeps. The step h, the contact model, its parameters, the rule of sleeping and the number of
// threads are settings, not state: a block goes back into a simulation of the same model under the
// same contact model, and the future is then the same to the bit if the settings are, too.
// Contacts and statistics are results of a step: after a block was set there are none until the
// next step.
//
// A block is meant for the program that made it: byte order and layout are those of this build. It
// is plain bytes without pointers, and outlives the simulation. As everywhere, a simulation is used
// by one thread at a time; ab_state_size, ab_state_get and the source of a copy are only read.
#ifndef ABUT_STATE_H
#define ABUT_STATE_H

#include <abut/data.h>

#ifdef __cplusplus
extern "C" {
#endif

// Bytes of the present state; it changes with the pairs in contact.
AB_API size_t ab_state_size(const abModel* model, const abData* data);
// Writes the state. AB_ERROR_ARGUMENT: the room is smaller than ab_state_size.
AB_API abStatus ab_state_get(const abModel* model, const abData* data, void* block, size_t bytes);
// Puts a state back. A block of another version, model or contact model, or a damaged one, is
// refused, and data stays as it was.
AB_API abStatus ab_state_set(const abModel* model, abData* data, const void* block, size_t bytes,
                             abError* error);
// Makes `to` what `from` is: state and settings, but for the number of threads. Both belong to this
// model, or to two of the same sizes.
AB_API abStatus ab_data_copy(const abModel* model, const abData* from, abData* to, abError* error);

#ifdef __cplusplus
}
#endif

#endif
