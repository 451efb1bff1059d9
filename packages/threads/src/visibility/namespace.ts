// Which items the code of a project and of its packages can see: the one rule, which the loader applies too.
import type { NamespaceContext, PackedMetadata } from "../types/index.ts";

/** The properties of an item that determine its visibility. */
export type NamespacedItem = {
	/** The package that it belongs to; absent for the project's own. */
	readonly packageId?: string | null;
	/** Whether the package makes it visible to the project. */
	readonly isEntry?: boolean;
};

/** Whether an item belongs to a package. */
export function isPacked<Item extends NamespacedItem>(item: Item): item is Item & PackedMetadata {
	return typeof item.packageId === "string" && item.packageId !== "";
}

/** Whether an item belongs to that package. */
export function belongsToPackage(item: NamespacedItem, packageId: string): boolean {
	return isPacked(item) && item.packageId === packageId;
}

/**
 * Whether code of a namespace can see an item: a package's code sees only its own items; the project's code sees its own
 * and those that packages declare.
 */
export function isVisibleInNamespace(item: NamespacedItem, namespace: NamespaceContext): boolean {
	if (namespace.type === "packed") return belongsToPackage(item, namespace.packageId);
	return !isPacked(item) || item.isEntry === true;
}
