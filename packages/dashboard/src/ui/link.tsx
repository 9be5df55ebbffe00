// Links by text: '/jobs?q=status:dead'. For paths that are put together at run time; the router's own Link is typed, but
// knows no texts with search parameters.
import { useRouter } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, MouseEvent } from 'react'

export interface LinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> {
  /** From the root of the dashboard: '/jobs/17', '/jobs?q=status:dead'. */
  to: string
}

/** `go('/jobs/17')` shows another screen; `href` is the address of one. */
export function useGo(): { go(to: string): void; href(to: string): string } {
  // The gallery of components has no router.
  const router = useRouter({ warn: false }) as ReturnType<typeof useRouter> | null
  const base = (router?.basepath ?? '/admin').replace(/\/$/, '')
  const href = (to: string) => `${base}${withFrame(to)}`
  return { href, go: (to) => (router === null ? location.assign(href(to)) : router.history.push(href(to))) }
}

export function Link({ to, onClick, ...rest }: LinkProps) {
  const { go, href } = useGo()
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event)
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    if (event.defaultPrevented || !isPlain || rest.target === '_blank') return
    event.preventDefault()
    go(to)
  }
  return <a href={href(to)} onClick={follow} {...rest} />
}

/** The tenant and the time range hold on every screen until they are changed, as with the router's own links. */
function withFrame(to: string): string {
  const now = new URLSearchParams(window.location.search)
  const [path = '', query = ''] = to.split('?')
  const search = new URLSearchParams(query)
  for (const name of ['tenant', 'range']) {
    const value = now.get(name)
    if (value !== null && !search.has(name)) search.set(name, value)
  }
  return search.size === 0 ? path : `${path}?${search}`
}
