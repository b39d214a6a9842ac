// What a picture is drawn on: text, boxes, lines and pixels, in pixels from the
// upper left corner, whatever the file format is.
#pragma once

#include <cairo.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rarefy/pictures/colour_map.hpp"

namespace rarefy::pictures {

struct Font {
  double size = 12.0;
  bool bold = false;
};

/// A rectangle of whole pixels.
struct Box {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;

  [[nodiscard]] int right() const { return left + width; }
  [[nodiscard]] int bottom() const { return top + height; }
};

struct Spot {
  double x = 0.0;
  double y = 0.0;
};

/// Pixels to place on a canvas; row 0 is the top one.
struct Raster {
  Raster(int width_, int height_)
      : width(width_), height(height_), pixels(static_cast<std::size_t>(width) * height) {}
  void set(int x, int y, const Colour& colour);

  int width;
  int height;
  std::vector<std::uint32_t> pixels;  ///< 0x00RRGGBB
};

class Canvas {
 public:
  /// A canvas that shows nothing, to measure text on.
  Canvas();
  /// Draws on `surface`; one pixel is `scale` units of the surface.
  Canvas(cairo_surface_t* surface, double scale);

  [[nodiscard]] double text_width(const std::string& text, const Font& font);

  /// `text` as it is if it is no wider than `most`; otherwise with its font made
  /// smaller, and if that does not do, cut with an ellipsis.
  struct Fitted {
    std::string text;
    Font font;
    double width = 0.0;
  };
  [[nodiscard]] Fitted fit(std::string_view text, const Font& font, double most);

  /// Text that starts at (x, baseline).
  void text(double x, double baseline, const std::string& text, const Font& font,
            const Colour& colour);
  /// Text that reads upwards and starts at (baseline, y).
  void upward_text(double baseline, double y, const std::string& text, const Font& font,
                   const Colour& colour);
  /// Black text with a white rim, readable on any colour.
  void rimmed_text(double x, double baseline, const std::string& text, const Font& font);

  void fill(double left, double top, double width, double height, const Colour& colour);
  void fill(const Box& box, const Colour& colour);
  void fill_triangle(double x1, double y1, double x2, double y2, double x3, double y3,
                     const Colour& colour);
  void line(double x1, double y1, double x2, double y2, double thickness, const Colour& colour);
  /// A line through all spots; `dashes` and gaps by turns, in multiples of the thickness.
  void polyline(std::span<const Spot> spots, double thickness, const Colour& colour,
                std::span<const double> dashes = {});
  void fill_polygon(std::span<const Spot> spots, const Colour& colour, double opacity);
  /// A disc with a white rim of a fifth of its radius.
  void disc(double x, double y, double radius, const Colour& colour);
  /// A small dark disc, half transparent.
  void dot(double x, double y, double radius);
  void place(const Raster& raster, int left, int top);
  /// Runs `draw` with everything outside `box` left untouched.
  void clipped(const Box& box, const std::function<void()>& draw);

 private:
  void check() const;
  void use(const Font& font);
  void use(const Colour& colour);

  struct Destroy {
    void operator()(cairo_t* context) const { cairo_destroy(context); }
  };
  std::unique_ptr<cairo_t, Destroy> context_;
};

enum class FileFormat { png, pdf, svg };

/// The file of a picture of width x height pixels on which `draw` has drawn. The
/// page of a vector file measures 1/200 inch a pixel.
[[nodiscard]] std::vector<std::byte> paint(FileFormat format, int width, int height,
                                           const std::function<void(Canvas&)>& draw);

}  // namespace rarefy::pictures
