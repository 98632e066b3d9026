// A plot as SVG: lines over two logarithmic axes.
#pragma once

#include <string>
#include <vector>

namespace efivarium::bench {

struct Point {
  double x = 0, y = 0;  // above 0
};

struct Line {
  std::string name;
  std::vector<Point> points;  // by x
};

struct Plot {
  std::string title, x_name, y_name;
  std::vector<Line> lines;  // at most eight

  std::string to_svg() const;
};

}  // namespace efivarium::bench
