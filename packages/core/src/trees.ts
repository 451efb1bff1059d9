// Entry point `holdfast/thread-tree`: conversations as trees.
export { ThreadNode, type ThreadNodeJSON } from "./state/thread-node.ts";
export { ThreadTree, type ThreadTreeJSON } from "./state/thread-tree.ts";
