/** Provides a project with the packages it imports until it has installed them. */
import { registerHooks } from "node:module";

const lent = /^(?:@holdfast\/threads|zod)(?:\/|$)/;

/**
 * From now on, an import of `@holdfast/threads` or `zod` that cannot be resolved gets this command's own copy, so a new
 * project runs at once. An installed copy always takes precedence.
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
