#include "bench/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace efivarium::bench {
namespace {

constexpr double kLeft = 80, kTop = 50, kWidth = 480, kHeight = 360;
constexpr double kRight = kLeft + kWidth, kBottom = kTop + kHeight;
constexpr double kLegend = kRight + 20;  // beside the plot, so that it covers nothing
// Dark enough on white, and apart for the colour-blind; every second line is dashed as well.
constexpr std::array kColours = {"#0072b2", "#d55e00", "#007a5a", "#b0478e",
                                 "#000000", "#8a6d00", "#5a5a5a", "#7a3b00"};

// One axis: whole powers of ten, from one to another, on the picture from begin to end.
struct Axis {
  int lowest, highest;
  double begin, end;

  Axis(const std::vector<double>& values, double at_lowest, double at_highest)
      : begin(at_lowest), end(at_highest) {
    const auto [least, most] = std::ranges::minmax(values);
    lowest = static_cast<int>(std::floor(std::log10(least)));
    highest = std::max(lowest + 1, static_cast<int>(std::ceil(std::log10(most))));
  }
  double at(double value) const {
    return begin + (end - begin) * (std::log10(value) - lowest) / (highest - lowest);
  }
};

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", value);
  return text.data();
}

std::string line(double x1, double y1, double x2, double y2, const std::string& style) {
  return "<line x1='" + number(x1) + "' y1='" + number(y1) + "' x2='" + number(x2) + "' y2='" +
         number(y2) + "' " + style + "/>\n";
}

std::string text(double x, double y, const std::string& style, const std::string& content) {
  return "<text x='" + number(x) + "' y='" + number(y) + "' " + style + ">" + content + "</text>\n";
}

std::string style_of(std::size_t index) {
  return "fill='none' stroke-width='2' stroke='" + std::string(kColours[index]) + "'" +
         (index % 2 == 0 ? "" : " stroke-dasharray='6 3'");
}

std::string curve(const Line& drawn, std::size_t index, const Axis& x, const Axis& y) {
  std::string points, dots;
  for (const Point& point : drawn.points) {
    const std::string px = number(x.at(point.x)), py = number(y.at(point.y));
    points += px + "," + py + " ";
    dots += "<circle cx='" + px + "' cy='" + py + "' r='3' fill='" + kColours[index] + "'/>\n";
  }
  return "<polyline points='" + points + "' " + style_of(index) + "/>\n" + dots;
}

}  // namespace

std::string Plot::to_svg() const {
  std::vector<double> xs, ys;
  for (const Line& drawn : lines) {
    for (const Point& point : drawn.points) {
      xs.push_back(point.x);
      ys.push_back(point.y);
    }
  }
  const Axis x(xs, kLeft, kRight);
  const Axis y(ys, kBottom, kTop);
  std::string svg =
      "<svg xmlns='http://www.w3.org/2000/svg' width='820' height='480' font-family='sans-serif' "
      "font-size='13'>\n<rect width='100%' height='100%' fill='white'/>\n";
  svg += text((kLeft + kRight) / 2, 28, "text-anchor='middle' font-size='16'", title);
  for (int power = x.lowest; power <= x.highest; ++power) {
    const double at = x.at(std::pow(10, power));
    svg += line(at, kTop, at, kBottom + 6, "stroke='#dddddd'");
    svg += text(at, kBottom + 22, "text-anchor='middle'", number(std::pow(10, power)));
  }
  for (int power = y.lowest; power <= y.highest; ++power) {
    const double at = y.at(std::pow(10, power));
    svg += line(kLeft - 6, at, kRight, at, "stroke='#dddddd'");
    svg += text(kLeft - 10, at + 4, "text-anchor='end'", number(std::pow(10, power)));
  }
  svg += line(kLeft, kTop, kLeft, kBottom, "stroke='black'");
  svg += line(kLeft, kBottom, kRight, kBottom, "stroke='black'");
  svg += text((kLeft + kRight) / 2, kBottom + 48, "text-anchor='middle'", x_name);
  svg +=
      text(20, (kTop + kBottom) / 2,
           "text-anchor='middle' transform='rotate(-90 20 " + number((kTop + kBottom) / 2) + ")'",
           y_name);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double at = kTop + 12 + 24 * static_cast<double>(i);
    svg += curve(lines[i], i, x, y);
    svg += line(kLegend, at, kLegend + 30, at, style_of(i));
    svg += text(kLegend + 38, at + 4, "", lines[i].name);
  }
  return svg + "</svg>\n";
}

}  // namespace efivarium::bench
