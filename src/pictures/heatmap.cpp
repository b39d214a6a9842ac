#include "rarefy/pictures/heatmap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "canvas.hpp"
#include "colour_bar.hpp"
#include "colour_scale.hpp"
#include "frame.hpp"
#include "heatmap_check.hpp"
#include "heatmap_layout.hpp"
#include "overlays.hpp"
#include "rarefy/core/error.hpp"

namespace rarefy::pictures {
namespace {

void check_size(const PictureSize& size) {
  const auto fits = [](int length) { return length >= 300 && length <= 16384; };
  if (fits(size.width) && fits(size.height)) return;
  throw Error(ErrorKind::parameter, "size of a picture",
              fmt::format("{} x {} pixels", size.width, size.height), "300 to 16384 pixels a side");
}

class Painter {
 public:
  Painter(const Heatmap& map, const ColourScale& scale, const HeatmapLayout& layout,
          const PictureSize& size, Canvas& canvas)
      : map_(map), scale_(scale), layout_(layout), size_(size), m_(size), canvas_(canvas) {}

  void draw() {
    canvas_.place(paint_cells(map_, scale_, layout_.plot), layout_.plot.left, layout_.plot.top);
    draw_overlays(canvas_, m_, map_, scale_, layout_.plot);
    draw_frame(canvas_, layout_.plot, m_.stroke);
    draw_x_ticks(canvas_, m_, layout_.plot, layout_.x_ticks, x_place());
    draw_y_ticks(canvas_, m_, layout_.plot, layout_.y_ticks, y_place());
    draw_colour_bar(canvas_, m_, scale_, layout_.bar, layout_.bar_ticks);
    draw_labels();
  }

 private:
  [[nodiscard]] Place x_place() const { return linear_place(map_.x_low, map_.x_high); }
  [[nodiscard]] Place y_place() const { return linear_place(map_.y_low, map_.y_high); }

  void draw_labels() {
    draw_heading();
    draw_x_label();
    const Box& plot = layout_.plot;
    draw_upward_label(map_.y_label, plot.left - m_.tick() - 2.0 * m_.gap() -
                                        layout_.y_numbers_width - 0.3 * m_.label().size);
    draw_upward_label(map_.colour_label, layout_.bar.right() + m_.tick() + 2.0 * m_.gap() +
                                             layout_.bar_numbers_width + 0.95 * m_.label().size);
    if (scale_.empty() && map_.path.empty()) {
      const auto note = canvas_.fit("no values", m_.label(), plot.width);
      canvas_.text(plot.left + 0.5 * (plot.width - note.width),
                   plot.top + 0.5 * plot.height + 0.36 * note.font.size, note.text, note.font,
                   kQuiet);
    }
  }

  // All lines begin above the left edge of the plot, or together further left
  // if one of them is too long for that.
  void draw_heading() {
    double x = layout_.plot.left - m_.stroke;
    for (const HeadingLine& line : layout_.heading) {
      x = std::min(x, size_.width - m_.margin() - line.text.width);
    }
    x = std::max(x, m_.margin());
    for (const HeadingLine& line : layout_.heading) {
      canvas_.text(x, line.baseline, line.text.text, line.text.font, line.colour);
    }
  }

  void draw_x_label() {
    const Box& plot = layout_.plot;
    double first = m_.margin();
    double last = size_.width - m_.margin();
    // Beside a plot that is lower than the colour bar, other text has this height.
    if (layout_.lower_end > plot.bottom()) {
      first = plot.left;
      last = plot.right();
    }
    const auto text = canvas_.fit(map_.x_label, m_.label(), last - first);
    const double baseline =
        plot.bottom() + m_.tick() + 2.0 * m_.gap() + 1.1 * m_.number().size + 0.9 * m_.label().size;
    canvas_.text(centred(plot.left + 0.5 * plot.width, text.width, first, last), baseline,
                 text.text, text.font, kInk);
  }

  // Stays below the heading and above the label of the x axis.
  void draw_upward_label(const std::string& label, double baseline) {
    const double first = layout_.upper_end;
    const double last = layout_.lower_end + m_.tick() + m_.gap() + 0.75 * m_.number().size;
    const auto text = canvas_.fit(label, m_.label(), last - first);
    const double middle = layout_.plot.top + 0.5 * layout_.plot.height;
    canvas_.upward_text(baseline, centred(middle, text.width, first, last) + text.width, text.text,
                        text.font, kInk);
  }

  const Heatmap& map_;
  const ColourScale& scale_;
  const HeatmapLayout& layout_;
  const PictureSize& size_;
  Measures m_;
  Canvas& canvas_;
};

std::vector<std::byte> render(FileFormat format, const Heatmap& map, const PictureSize& size) {
  check_heatmap(map);
  check_size(size);
  const ColourScale scale(map);
  const HeatmapLayout layout = lay_out(map, scale, size);
  return paint(format, size.width, size.height,
               [&](Canvas& canvas) { Painter(map, scale, layout, size, canvas).draw(); });
}

}  // namespace

std::vector<std::byte> render_png(const Heatmap& heatmap, const PictureSize& size) {
  return render(FileFormat::png, heatmap, size);
}

std::vector<std::byte> render_pdf(const Heatmap& heatmap, const PictureSize& size) {
  return render(FileFormat::pdf, heatmap, size);
}

std::vector<std::byte> render_svg(const Heatmap& heatmap, const PictureSize& size) {
  return render(FileFormat::svg, heatmap, size);
}

}  // namespace rarefy::pictures
