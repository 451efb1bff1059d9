// Entry point of the routes: the page, its data, and its actions.
export { actRoutes } from "./act-routes.ts";
export { lookRoutes } from "./look-routes.ts";
export { pagePaths, pageRoutes } from "./page-routes.ts";
export { promptRoutes } from "./prompt-routes.ts";
export { damageStatuses, type InspectedPrompts, type RouteParts } from "./route-parts.ts";
export { skillRoutes } from "./skill-routes.ts";
export { trialRoutes } from "./trial-routes.ts";
