import { basePath } from './base.ts'

/** To the login page, which comes back to the URL that is shown now. */
export function logInAgain(): void {
  const { pathname, search } = window.location
  const next = `${pathname.slice(basePath.length)}${search}`
  window.location.assign(`${basePath}/admin/login?next=${encodeURIComponent(next)}`)
}
