// The same property with all of its runs. The run per commit takes a part of them.
import "./watch.property.test.ts";
