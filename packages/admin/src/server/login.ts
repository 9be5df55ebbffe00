// Log in with a token and out again: a browser gets a session in a cookie that scripts cannot read.
import type { Millrace } from 'millrace'
import type { AdminApp, AdminContext } from './admin.ts'
import { cookieOf, SESSION_COOKIE } from './auth.ts'
import type { AuthFailures } from './auth-failures.ts'
import { textOf } from './input.ts'
import { demandOwnForm } from './origin.ts'
import { loginPage } from './pages.ts'

const SESSION_SECONDS = 12 * 3_600
/** Strangers may send it. */
const MOST_FORM_BYTES = 16_384

interface LoginServices {
  readonly millrace: Millrace
  readonly failures: AuthFailures
  readonly basePath: string
}

export function addLogin(app: AdminApp, { millrace, failures, basePath }: LoginServices): void {
  app.get('/admin/login', (c) => loginPage(basePath, { next: c.req.query('next') ?? '' }))

  app.post('/admin/login', async (c) => {
    demandOwnForm(c.req.raw)
    const form = new URLSearchParams(await textOf(c.req.raw, MOST_FORM_BYTES))
    const token = (form.get('token') ?? '').trim()
    const next = form.get('next') ?? ''
    failures.demandPatience(c.var.source, token)
    const session = token === '' ? undefined : await millrace.tokens.openSession(token)
    if (session === undefined) {
      failures.failed(c.var.source)
      return loginPage(basePath, { next, error: 'This token is unknown, has expired or was revoked.' }, 401)
    }
    failures.succeeded(token)
    c.header('set-cookie', cookie(c, basePath, session.secret, SESSION_SECONDS))
    return c.redirect(`${basePath}${ownPath(next)}`, 303)
  })

  app.post('/admin/logout', async (c) => {
    demandOwnForm(c.req.raw)
    const session = cookieOf(c.req.raw)
    if (session !== undefined) await millrace.tokens.endSession(session)
    c.header('set-cookie', cookie(c, basePath, '', 0))
    return c.redirect(`${basePath}/admin/login`, 303)
  })
}

/** Only a page of ours: a link must not send a person who logs in to another website. */
const ownPath = (next: string): string =>
  /^\/admin\/[!-[\]-~]*$/.test(next) && !next.includes('//') ? next : '/admin/'

function cookie(c: AdminContext, basePath: string, value: string, seconds: number): string {
  const isSecure = new URL(c.req.url).protocol === 'https:' || c.req.header('x-forwarded-proto') === 'https'
  const parts = [
    `${SESSION_COOKIE}=${value}`,
    `Path=${basePath || '/'}`,
    `Max-Age=${seconds}`,
    'HttpOnly',
    'SameSite=Strict',
  ]
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ')
}
