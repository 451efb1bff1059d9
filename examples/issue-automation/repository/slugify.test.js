// Run with node; it fails, because of a bug that the agent is to report.
import assert from "node:assert/strict";
import { slugify } from "./slugify.js";

assert.equal(slugify("Keep the light on"), "keep-the-light-on");
