// Entry point of the visibility rules.
export { belongsToPackage, isPacked, isVisibleInNamespace, type NamespacedItem } from "./namespace.ts";
