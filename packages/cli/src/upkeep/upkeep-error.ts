/** Upkeep that cannot be done as things are: one or two sentences for the user, and nothing was changed. */
export class UpkeepError extends Error {}
