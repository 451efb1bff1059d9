// The loader of projects.
export { folders } from "./discover.ts";
export { loadProject, loadProjectWith } from "./load-project.ts";
export { type ProjectProblem, problemLine, projectInvalid } from "./problems.ts";
export type { ImportModule } from "./read-definition.ts";
