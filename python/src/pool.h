// Threads that share the indices of a loop; each index is done by one of them, and touches only
// what is its own, so the result does not depend on how many there are.
#pragma once

#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
 public:
  explicit Pool(int n) : nthread_(n) {}
  ~Pool() { stop(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int size() const { return nthread_; }

  // task(index, worker) for every index below n, in blocks of `grain`.
  void run(int n, int grain, const std::function<void(int, int)>& task) {
    if (nthread_ <= 1 || n <= grain) {
      for (int i = 0; i < n; i++) task(i, 0);
      return;
    }
    start();
    {
      std::lock_guard<std::mutex> lock(mutex_);
      task_ = &task;
      n_ = n;
      grain_ = grain;
      next_ = 0;
      running_ = nthread_ - 1;
      round_++;
    }
    wake_.notify_all();
    work(0);
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [&] { return running_ == 0; });
    task_ = nullptr;
  }

 private:
  // A child of a fork has none of its parent's threads: it starts its own.
  void start() {
    if (pid_ == getpid()) return;
    if (pid_ != 0)
      for (std::thread& t : thread_) new (&t) std::thread();  // not ours to join
    thread_.clear();
    pid_ = getpid();
    for (int i = 1; i < nthread_; i++) thread_.emplace_back([this, i, r = round_] { serve(i, r); });
  }

  void stop() {
    if (pid_ != getpid()) {
      for (std::thread& t : thread_) new (&t) std::thread();
      return;
    }
    {
      std::lock_guard<std::mutex> lock(mutex_);
      quit_ = true;
    }
    wake_.notify_all();
    for (std::thread& t : thread_) t.join();
  }

  void serve(int worker, long seen) {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return quit_ || round_ != seen; });
      if (quit_) return;
      seen = round_;
      lock.unlock();
      work(worker);
      lock.lock();
      if (--running_ == 0) done_.notify_one();
    }
  }

  void work(int worker) {
    for (int i; (i = next_.fetch_add(grain_)) < n_;)
      for (int k = i; k < i + grain_ && k < n_; k++) (*task_)(k, worker);
  }

  int nthread_;
  std::vector<std::thread> thread_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const std::function<void(int, int)>* task_ = nullptr;
  std::atomic<int> next_{0};
  int n_ = 0, grain_ = 1, running_ = 0;
  long round_ = 0;
  bool quit_ = false;
  pid_t pid_ = 0;
};

// 0: as many as there are processors.
inline int thread_count(int asked) {
  if (asked > 0) return asked;
  int n = (int)std::thread::hardware_concurrency();
  return n > 0 ? n : 1;
}
