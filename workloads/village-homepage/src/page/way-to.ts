// Links that leave the village, by way of /village/go: it counts the clicks of visitors who agreed.
import type { Target } from '../clicks/leave.ts'

/** Undefined: strangers' links were checked as they came, and this one is none of ours. */
export const wayTo = ({ kind, id, url }: Target & { readonly url: string }, basePath: string): string | undefined =>
  /^https?:\/\//i.test(url) ? `${basePath}/village/go/${kind}/${id}` : undefined
