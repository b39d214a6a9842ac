#include "canvas.hpp"

#include <cairo-pdf.h>
#include <cairo-svg.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <new>
#include <numbers>

#include "rarefy/core/error.hpp"

namespace rarefy::pictures {
namespace {

constexpr Colour kWhite{1.0, 1.0, 1.0};
constexpr double kPointsPerPixel = 72.0 / 200.0;
constexpr double kSmallestShrink = 0.7;
constexpr const char* kFontFamily = "DejaVu Sans";

void check_status(cairo_status_t status) {
  if (status == CAIRO_STATUS_SUCCESS) return;
  if (status == CAIRO_STATUS_NO_MEMORY) throw std::bad_alloc();
  if (status == CAIRO_STATUS_INVALID_STRING) {
    throw Error(ErrorKind::parameter, "text of a picture", "bytes that are not UTF-8", "UTF-8");
  }
  throw Error(ErrorKind::io, std::string("drawing a picture: ") + cairo_status_to_string(status));
}

// Called from C code, which no exception may pass through.
cairo_status_t append_bytes(void* closure, const unsigned char* data,
                            unsigned int length) noexcept {
  try {
    auto& bytes = *static_cast<std::vector<std::byte>*>(closure);
    const auto* first = reinterpret_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), first, first + length);
    return CAIRO_STATUS_SUCCESS;
  } catch (const std::bad_alloc&) {
    return CAIRO_STATUS_NO_MEMORY;
  }
}

class Surface {
 public:
  explicit Surface(cairo_surface_t* surface) : surface_(surface) { check(); }
  Surface(const Surface&) = delete;
  Surface& operator=(const Surface&) = delete;
  ~Surface() { cairo_surface_destroy(surface_); }

  [[nodiscard]] cairo_surface_t* get() const { return surface_; }
  void check() const { check_status(cairo_surface_status(surface_)); }

 private:
  cairo_surface_t* surface_;
};

void draw_page(const Surface& surface, int width, int height, double scale,
               const std::function<void(Canvas&)>& draw) {
  Canvas canvas(surface.get(), scale);
  canvas.fill(0, 0, width, height, kWhite);
  draw(canvas);
}

bool is_digit(std::byte b) { return b >= std::byte{'0'} && b <= std::byte{'9'}; }

// Cairo names parts of an SVG file after a counter that runs through the life
// of the process ("surface17", "image15"). Counting anew from 1 within the file
// makes the same picture the same bytes.
std::vector<std::byte> renumbered(const std::vector<std::byte>& svg) {
  std::vector<std::byte> result;
  result.reserve(svg.size());
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < svg.size();) {
    std::size_t stem = 0;
    if (svg[i] == std::byte{'"'} || svg[i] == std::byte{'#'}) {
      for (const std::string_view name : {"surface", "image", "mask", "source"}) {
        if (i + 1 + name.size() < svg.size() &&
            std::memcmp(svg.data() + i + 1, name.data(), name.size()) == 0 &&
            is_digit(svg[i + 1 + name.size()])) {
          stem = 1 + name.size();
        }
      }
    }
    if (stem == 0) {
      result.push_back(svg[i++]);
      continue;
    }
    result.insert(result.end(), svg.data() + i, svg.data() + i + stem);
    i += stem;
    std::string digits;
    while (i < svg.size() && is_digit(svg[i])) digits += static_cast<char>(svg[i++]);
    const auto number = numbers.try_emplace(digits, numbers.size() + 1).first->second;
    for (const char c : std::to_string(number)) result.push_back(static_cast<std::byte>(c));
  }
  return result;
}

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }

}  // namespace

void Raster::set(int x, int y, const Colour& colour) {
  const auto byte = [](double channel) {
    return static_cast<std::uint32_t>(std::lround(channel * 255.0));
  };
  pixels[static_cast<std::size_t>(y) * width + x] =
      byte(colour.red) << 16 | byte(colour.green) << 8 | byte(colour.blue);
}

// The context keeps the surface alive.
Canvas::Canvas() : Canvas(Surface(cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1)).get(), 1.0) {}

Canvas::Canvas(cairo_surface_t* surface, double scale) : context_(cairo_create(surface)) {
  check();
  cairo_scale(context_.get(), scale, scale);
  // Unhinted outlines have the same widths on the screen and on paper, so that
  // one layout serves all formats.
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_set_font_options(context_.get(), options);
  cairo_font_options_destroy(options);
}

void Canvas::check() const { check_status(cairo_status(context_.get())); }

void Canvas::use(const Font& font) {
  cairo_select_font_face(context_.get(), kFontFamily, CAIRO_FONT_SLANT_NORMAL,
                         font.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(context_.get(), font.size);
}

void Canvas::use(const Colour& colour) {
  cairo_set_source_rgb(context_.get(), colour.red, colour.green, colour.blue);
}

double Canvas::text_width(const std::string& text, const Font& font) {
  use(font);
  cairo_text_extents_t extents;
  cairo_text_extents(context_.get(), text.c_str(), &extents);
  check();
  return extents.x_advance;
}

Canvas::Fitted Canvas::fit(std::string_view text, const Font& font, double most) {
  Fitted fitted{std::string(text), font, 0.0};
  // Line breaks and tabs have no glyph.
  for (char& c : fitted.text) {
    if (static_cast<unsigned char>(c) < 0x20U || c == 0x7f) c = ' ';
  }
  fitted.width = text_width(fitted.text, font);
  if (fitted.width <= most) return fitted;

  fitted.font.size *= std::max(kSmallestShrink, 0.999 * most / fitted.width);
  fitted.width = text_width(fitted.text, fitted.font);
  if (fitted.width <= most) return fitted;

  // The longest beginning that leaves room for the ellipsis, by bisection over
  // the places where a character starts.
  std::vector<std::size_t> cuts;
  for (std::size_t i = 0; i < fitted.text.size(); ++i) {
    if (starts_character(fitted.text[i])) cuts.push_back(i);
  }
  const auto cut = [&](std::size_t at) { return fitted.text.substr(0, at) + "…"; };
  const auto too_wide = std::partition_point(cuts.begin(), cuts.end(), [&](std::size_t at) {
    return text_width(cut(at), fitted.font) <= most;
  });
  fitted.text = cut(too_wide == cuts.begin() ? 0 : *(too_wide - 1));
  fitted.width = text_width(fitted.text, fitted.font);
  return fitted;
}

void Canvas::text(double x, double baseline, const std::string& text, const Font& font,
                  const Colour& colour) {
  use(font);
  use(colour);
  cairo_move_to(context_.get(), x, baseline);
  cairo_show_text(context_.get(), text.c_str());
  check();
}

void Canvas::upward_text(double baseline, double y, const std::string& text, const Font& font,
                         const Colour& colour) {
  cairo_save(context_.get());
  cairo_translate(context_.get(), baseline, y);
  cairo_rotate(context_.get(), -std::numbers::pi / 2.0);
  this->text(0.0, 0.0, text, font, colour);
  cairo_restore(context_.get());
}

void Canvas::rimmed_text(double x, double baseline, const std::string& text, const Font& font) {
  use(font);
  use(kWhite);
  cairo_move_to(context_.get(), x, baseline);
  cairo_text_path(context_.get(), text.c_str());
  cairo_set_line_width(context_.get(), 0.25 * font.size);
  cairo_set_line_join(context_.get(), CAIRO_LINE_JOIN_ROUND);
  cairo_stroke(context_.get());
  this->text(x, baseline, text, font, Colour{});
}

void Canvas::fill(double left, double top, double width, double height, const Colour& colour) {
  use(colour);
  cairo_rectangle(context_.get(), left, top, width, height);
  cairo_fill(context_.get());
}

void Canvas::fill(const Box& box, const Colour& colour) {
  fill(box.left, box.top, box.width, box.height, colour);
}

void Canvas::fill_triangle(double x1, double y1, double x2, double y2, double x3, double y3,
                           const Colour& colour) {
  use(colour);
  cairo_move_to(context_.get(), x1, y1);
  cairo_line_to(context_.get(), x2, y2);
  cairo_line_to(context_.get(), x3, y3);
  cairo_close_path(context_.get());
  cairo_fill(context_.get());
}

void Canvas::line(double x1, double y1, double x2, double y2, double thickness,
                  const Colour& colour) {
  use(colour);
  cairo_set_line_width(context_.get(), thickness);
  cairo_set_line_cap(context_.get(), CAIRO_LINE_CAP_ROUND);
  cairo_move_to(context_.get(), x1, y1);
  cairo_line_to(context_.get(), x2, y2);
  cairo_stroke(context_.get());
}

void Canvas::polyline(std::span<const Spot> spots, double thickness, const Colour& colour,
                      std::span<const double> dashes) {
  if (spots.empty()) return;
  cairo_save(context_.get());
  use(colour);
  cairo_set_line_width(context_.get(), thickness);
  cairo_set_line_join(context_.get(), CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_cap(context_.get(), dashes.empty() ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT);
  std::vector<double> lengths(dashes.begin(), dashes.end());
  for (double& length : lengths) length *= thickness;
  cairo_set_dash(context_.get(), lengths.data(), static_cast<int>(lengths.size()), 0.0);
  cairo_move_to(context_.get(), spots.front().x, spots.front().y);
  for (const Spot& spot : spots) cairo_line_to(context_.get(), spot.x, spot.y);
  cairo_stroke(context_.get());
  cairo_restore(context_.get());
}

void Canvas::fill_polygon(std::span<const Spot> spots, const Colour& colour, double opacity) {
  cairo_set_source_rgba(context_.get(), colour.red, colour.green, colour.blue, opacity);
  for (const Spot& spot : spots) cairo_line_to(context_.get(), spot.x, spot.y);
  cairo_close_path(context_.get());
  cairo_fill(context_.get());
}

void Canvas::disc(double x, double y, double radius, const Colour& colour) {
  use(kWhite);
  cairo_arc(context_.get(), x, y, 1.2 * radius, 0.0, 2.0 * std::numbers::pi);
  cairo_fill(context_.get());
  use(colour);
  cairo_arc(context_.get(), x, y, radius, 0.0, 2.0 * std::numbers::pi);
  cairo_fill(context_.get());
}

void Canvas::dot(double x, double y, double radius) {
  cairo_set_source_rgba(context_.get(), 0.0, 0.0, 0.0, 0.45);
  cairo_arc(context_.get(), x, y, radius, 0.0, 2.0 * std::numbers::pi);
  cairo_fill(context_.get());
}

void Canvas::place(const Raster& raster, int left, int top) {
  const Surface image(cairo_image_surface_create(CAIRO_FORMAT_RGB24, raster.width, raster.height));
  cairo_surface_flush(image.get());
  unsigned char* data = cairo_image_surface_get_data(image.get());
  const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(image.get()));
  const auto row_bytes = static_cast<std::size_t>(raster.width) * sizeof(std::uint32_t);
  for (int y = 0; y < raster.height; ++y) {
    std::memcpy(data + y * stride,
                raster.pixels.data() + static_cast<std::size_t>(y) * raster.width, row_bytes);
  }
  cairo_surface_mark_dirty(image.get());
  cairo_set_source_surface(context_.get(), image.get(), left, top);
  cairo_pattern_set_filter(cairo_get_source(context_.get()), CAIRO_FILTER_NEAREST);
  cairo_paint(context_.get());
  check();
}

void Canvas::clipped(const Box& box, const std::function<void()>& draw) {
  cairo_save(context_.get());
  cairo_rectangle(context_.get(), box.left, box.top, box.width, box.height);
  cairo_clip(context_.get());
  draw();
  cairo_restore(context_.get());
}

std::vector<std::byte> paint(FileFormat format, int width, int height,
                             const std::function<void(Canvas&)>& draw) {
  std::vector<std::byte> bytes;
  if (format == FileFormat::png) {
    const Surface image(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height));
    draw_page(image, width, height, 1.0, draw);
    check_status(cairo_surface_write_to_png_stream(image.get(), append_bytes, &bytes));
    return bytes;
  }
  const auto create = format == FileFormat::pdf ? cairo_pdf_surface_create_for_stream
                                                : cairo_svg_surface_create_for_stream;
  const Surface page(
      create(append_bytes, &bytes, width * kPointsPerPixel, height * kPointsPerPixel));
  if (format == FileFormat::pdf) {
    // Without a date of its own the file would carry the time of the day.
    cairo_pdf_surface_set_metadata(page.get(), CAIRO_PDF_METADATA_CREATE_DATE, "");
  }
  draw_page(page, width, height, kPointsPerPixel, draw);
  cairo_surface_finish(page.get());
  page.check();
  return format == FileFormat::svg ? renumbered(bytes) : bytes;
}

}  // namespace rarefy::pictures
