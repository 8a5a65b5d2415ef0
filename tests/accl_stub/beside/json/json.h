#pragma once

namespace Json {

class Value {};

}  // namespace Json
