const HUES = 8

/** One of eight colours, the same for an organization on every page. Neighbours by number differ. */
export const hueOf = (organization: string): number => Number(/\d+$/.exec(organization)?.[0] ?? 0) % HUES
