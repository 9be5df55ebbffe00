// Where the server is mounted: it wrote that into the page.

/** '' or a path such as '/ops'. */
export const basePath = document.documentElement.dataset.base ?? ''
