// The same property with all of its runs. The run per commit takes a part of them.
import "./same-as-memory.property.test.ts";
