// The loader of projects.
export { loadProject, loadProjectWith } from "./load-project.ts";
export { type ProjectProblem, problemLine } from "./problems.ts";
export type { ImportModule } from "./read-definition.ts";
