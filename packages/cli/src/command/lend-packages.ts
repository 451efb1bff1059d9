/** Lends a project the packages that it is written with, as long as it has not installed them. */
import { registerHooks } from "node:module";

const lent = /^(?:@holdfast\/threads|zod)(?:\/|$)/;

/**
 * From here on an import of `@holdfast/threads` or `zod` that finds nothing gets this command's own copy, so a new project
 * runs at once. A copy that is installed always counts.
 */
export function lendPackages(): void {
	registerHooks({
		resolve(specifier, context, next) {
			if (!lent.test(specifier)) return next(specifier, context);
			try {
				return next(specifier, context);
			} catch (error) {
				if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
				return next(specifier, { ...context, parentURL: import.meta.url });
			}
		},
	});
}
