// Which items code of a project and of its packages can see: the one rule, which the loader keeps too.
import type { NamespaceContext, PackedMetadata } from "../types/index.ts";

/** An item of a project or of a package, as far as it matters who sees it. */
export type NamespacedItem = { readonly packageId?: string | null; readonly isEntry?: boolean };

/** Whether an item belongs to a package. */
export function isPacked<Item extends NamespacedItem>(item: Item): item is Item & PackedMetadata {
	return typeof item.packageId === "string" && item.packageId !== "";
}

/** Whether an item belongs to that package. */
export function belongsToPackage(item: NamespacedItem, packageId: string): boolean {
	return isPacked(item) && item.packageId === packageId;
}

/**
 * Whether code of a namespace can see an item: code of a package its own items only, code of the project its own and
 * those that packages declare.
 */
export function isVisibleInNamespace(item: NamespacedItem, namespace: NamespaceContext): boolean {
	if (namespace.type === "packed") return belongsToPackage(item, namespace.packageId);
	return !isPacked(item) || item.isEntry === true;
}
