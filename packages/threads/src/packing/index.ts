// Packages of agents.
export { belongsToPackage, isPacked, isVisibleInNamespace, type NamespacedItem } from "./namespace.ts";
