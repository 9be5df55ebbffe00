/** Strangers' links were checked as they came, and are once more where they are used. Else: the block itself. */
export const safeLink = (url: string, block: string): string => (/^https?:\/\//i.test(url) ? url : `#${block}`)
