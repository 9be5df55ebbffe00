import { basePath } from './base.ts'

let isLeaving = false

/** To the login page, which comes back to the URL that is shown now. */
export function logInAgain(): void {
  // Several answers may say so at once: a second navigation would break off the first.
  if (isLeaving) return
  isLeaving = true
  const { pathname, search } = window.location
  const next = `${pathname.slice(basePath.length)}${search}`
  window.location.assign(`${basePath}/admin/login?next=${encodeURIComponent(next)}`)
}
