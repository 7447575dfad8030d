// Long work without the lock of the interpreter, looked at ten times a second: Ctrl-C ends it, and
// a progress bar is told how far it is.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "core.h"

// Runs `work` on a thread of its own. `done` says how much of it is done and is handed to
// `progress` (a callable, or none); `stop` is called when an exception (Ctrl-C, or one of
// `progress`) is to end the work, and the exception goes on once the work has ended.
inline void watch(const std::function<void()>& work, const std::function<double()>& done,
                  const std::function<void()>& stop, nb::handle progress) {
  std::mutex mutex;
  std::condition_variable ended;
  bool over = false;
  std::thread thread([&] {
    work();
    std::lock_guard<std::mutex> lock(mutex);
    over = true;
    ended.notify_one();
  });
  auto wait = [&] {
    Unlocked unlocked;
    std::unique_lock<std::mutex> lock(mutex);
    return ended.wait_for(lock, std::chrono::milliseconds(100), [&] { return over; });
  };
  try {
    while (!wait()) {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!progress.is_none()) progress(done());
    }
  } catch (...) {
    stop();
    Unlocked unlocked;
    thread.join();
    throw;
  }
  thread.join();
  if (!progress.is_none()) progress(done());
}
