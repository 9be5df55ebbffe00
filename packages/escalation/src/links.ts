// Where messages point to: the pages of the admin, if it has a public address.
import type { Fault } from './fault.ts'

export interface Links {
  job(id: string): string | undefined
  failure(fingerprint: string): string | undefined
  queue(name: string): string | undefined
  home(): string | undefined
}

export function linksOf(publicUrl: string | undefined): Links {
  const base = publicUrl?.replace(/\/+$/, '')
  const page = (path: string) => (base === undefined || base === '' ? undefined : `${base}/admin${path}`)
  return {
    job: (id) => page(`/jobs/${encodeURIComponent(id)}`),
    failure: (fingerprint) => page(`/failures/${encodeURIComponent(fingerprint)}`),
    queue: (name) => page(`/queues/${encodeURIComponent(name)}`),
    home: () => page(''),
  }
}

/** The most telling page for a fault first. */
export function linksFor(fault: Fault, links: Links): { text: string; href: string }[] {
  const last = fault.jobIds.at(-1)
  const found = [
    { text: 'Failures like this', href: fault.fingerprint === null ? undefined : links.failure(fault.fingerprint) },
    { text: `Job ${last}`, href: last === undefined ? undefined : links.job(last) },
    {
      text: `Queue ${fault.queueTitle ?? fault.queue}`,
      href: fault.queue === null ? undefined : links.queue(fault.queue),
    },
  ]
  return found.flatMap(({ text, href }) => (href === undefined ? [] : [{ text, href }]))
}
