// Who sees what.
export { belongsToPackage, isPacked, isVisibleInNamespace, type NamespacedItem } from "./namespace.ts";
