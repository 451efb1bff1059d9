// Entry point of the loader of projects.
export { filesIn } from "./discover.ts";
export { findPackages } from "./find-packages.ts";
export { loadProject, loadProjectWith } from "./load-project.ts";
export { type ProjectProblem, problemLine } from "./problems.ts";
export type { ImportModule } from "./read-definition.ts";
