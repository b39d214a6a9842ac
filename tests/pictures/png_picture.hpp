// A picture as its pixels.
#pragma once

#include <cairo.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "rarefy/pictures/colour_map.hpp"

namespace rarefy::pictures {

inline std::uint32_t rgb(const Colour& colour) {
  const auto byte = [](double c) { return static_cast<std::uint32_t>(std::lround(c * 255.0)); };
  return byte(colour.red) << 16 | byte(colour.green) << 8 | byte(colour.blue);
}

struct Reader {
  const std::vector<std::byte>& bytes;
  std::size_t next = 0;
};

inline cairo_status_t read_bytes(void* closure, unsigned char* data, unsigned int length) {
  auto& reader = *static_cast<Reader*>(closure);
  if (reader.next + length > reader.bytes.size()) return CAIRO_STATUS_READ_ERROR;
  std::memcpy(data, reader.bytes.data() + reader.next, length);
  reader.next += length;
  return CAIRO_STATUS_SUCCESS;
}

class Picture {
 public:
  explicit Picture(const std::vector<std::byte>& png) {
    Reader reader{png};
    surface_ = cairo_image_surface_create_from_png_stream(read_bytes, &reader);
    EXPECT_EQ(cairo_surface_status(surface_), CAIRO_STATUS_SUCCESS);
  }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;
  ~Picture() { cairo_surface_destroy(surface_); }

  int width() const { return cairo_image_surface_get_width(surface_); }
  int height() const { return cairo_image_surface_get_height(surface_); }
  std::uint32_t at(int x, int y) const {
    std::uint32_t pixel = 0;
    std::memcpy(&pixel,
                cairo_image_surface_get_data(surface_) +
                    static_cast<std::ptrdiff_t>(y) * cairo_image_surface_get_stride(surface_) +
                    4 * static_cast<std::ptrdiff_t>(x),
                4);
    return pixel & 0xffffffU;
  }

 private:
  cairo_surface_t* surface_ = nullptr;
};

inline std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// How often `part` is in `text`.
inline int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// How many pixels have that colour.
inline int pixels_of(const Picture& picture, const Colour& colour) {
  int count = 0;
  for (int y = 0; y < picture.height(); ++y) {
    for (int x = 0; x < picture.width(); ++x) count += picture.at(x, y) == rgb(colour) ? 1 : 0;
  }
  return count;
}

/// Whether nothing is drawn on the rim of a picture: what is cut off begins there.
inline bool rim_is_white(const Picture& picture) {
  for (int x = 0; x < picture.width(); ++x) {
    if (picture.at(x, 0) != 0xffffffU || picture.at(x, picture.height() - 1) != 0xffffffU) {
      return false;
    }
  }
  for (int y = 0; y < picture.height(); ++y) {
    if (picture.at(0, y) != 0xffffffU || picture.at(picture.width() - 1, y) != 0xffffffU) {
      return false;
    }
  }
  return true;
}

}  // namespace rarefy::pictures
