// Sums that stay on the devices: each rank fills a buffer on its device, sends it to the next rank, and adds
// up those of all ranks. With the word `mpi` the ranks are processes of MPI, otherwise four threads.
#include <fabricmark/messages.hpp>
#include <iostream>
#include <string>
#include <thread>
#include <vector>
#ifdef WITH_MPI
#include <fabricmark/messages_mpi.hpp>
#endif

namespace messages = fabricmark::messages;

namespace {

constexpr std::size_t kCount = std::size_t{1} << 20U;
constexpr std::size_t kBytes = kCount * sizeof(float);

/// The first device of the first platform.
cl_device_id first_device() {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
    throw std::runtime_error("there is no OpenCL device; install a runtime (Debian: pocl-opencl-icd)");
  }
  return device;
}

/// What one rank does; whether it has found what it has to.
bool run(messages::Ranks ranks, cl_context context, cl_device_id device) {
  messages::Endpoint endpoint(std::move(ranks), context, device);
  const int rank = endpoint.rank();
  const int size = endpoint.size();
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, nullptr, nullptr);
  std::vector<float> values(kCount, static_cast<float>(rank + 1));
  cl_mem own = clCreateBuffer(context, CL_MEM_READ_WRITE, kBytes, nullptr, nullptr);
  cl_mem other = clCreateBuffer(context, CL_MEM_READ_WRITE, kBytes, nullptr, nullptr);

  // To the next rank as soon as the buffer is filled, while what the one before sends comes in.
  cl_event filled = nullptr;
  clEnqueueWriteBuffer(queue, own, CL_FALSE, 0, kBytes, values.data(), 0, nullptr, &filled);
  clFlush(queue);
  messages::Request sent = endpoint.start_send({own, 0, kBytes}, (rank + 1) % size, 7, {&filled, 1});
  endpoint.receive({other, 0, kBytes}, (rank + size - 1) % size, 7);
  sent.wait();

  // The sum of what all ranks have received, on all of them, in the same place.
  endpoint.all_reduce({other, 0, kBytes}, {other, 0, kBytes}, messages::Type::kFloat32,
                      messages::Reduction::kSum);
  clEnqueueReadBuffer(queue, other, CL_TRUE, 0, kBytes, values.data(), 0, nullptr, nullptr);
  const auto expected = static_cast<float>(size * (size + 1) / 2);
  bool is_right = true;
  for (const float value : values) is_right = is_right && value == expected;

  clReleaseEvent(filled);
  clReleaseMemObject(own);
  clReleaseMemObject(other);
  clReleaseCommandQueue(queue);
  if (rank == 0) {
    std::cout << size << " ranks, sum " << values[0] << (is_right ? ", as it has to be\n" : ", wrong\n")
              << endpoint.protocols() << "\n";
  }
  return is_right;
}

/// As many threads, each with the device; on a machine with several, each would have its own.
bool run_threads(cl_context context, cl_device_id device) {
  std::vector<messages::Ranks> all = messages::ranks_of_threads(4);
  std::vector<char> is_right(all.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    threads.emplace_back([&, rank, ranks = std::move(all[rank])]() mutable {
      try {
        is_right[rank] = run(std::move(ranks), context, device) ? 1 : 0;
      } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
      }
    });
  }
  bool all_right = true;
  for (std::size_t rank = 0; rank < threads.size(); ++rank) {
    threads[rank].join();
    all_right = all_right && is_right[rank] != 0;
  }
  return all_right;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    cl_device_id device = first_device();
    cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    bool is_right = false;
    if (argc > 1 && std::string(argv[1]) == "mpi") {
#ifdef WITH_MPI
      MPI_Init(&argc, &argv);
      is_right = run(messages::ranks_of(MPI_COMM_WORLD), context, device);
      MPI_Finalize();
#else
      throw std::runtime_error("this was built without MPI; build it where CMake finds one");
#endif
    } else {
      is_right = run_threads(context, device);
    }
    clReleaseContext(context);
    return is_right ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 3;
  }
}
