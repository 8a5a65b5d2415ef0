#pragma once

#include "cProcess.hpp"
