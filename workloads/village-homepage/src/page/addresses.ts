// Paths of pages that others link to, below where the server is mounted.

export const listingPath = (id: string): string => `/village/listings/${id}`
export const sitePath = (id: string): string => `/village/sites/${id}`
