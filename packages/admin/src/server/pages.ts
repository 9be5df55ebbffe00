// The few pages that need no dashboard: what is here, and the login. They run no script.
import { createHash } from 'node:crypto'

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 12vh auto; max-width: 25rem; padding: 0 1.25rem; background: light-dark(#f6f7f8, #0e1419); color: light-dark(#14202b, #e8edf1); }
h1 { font-size: 1.35rem; letter-spacing: -.01em; }
a { color: inherit; }
label, input, button { display: block; font: inherit; width: 100%; box-sizing: border-box; }
input { margin: .3rem 0 1rem; padding: .5rem .6rem; border: 1px solid light-dark(#87929d, #64747f); border-radius: 6px; background: light-dark(#fff, #151d24); color: inherit; }
button { padding: .5rem; border: 0; border-radius: 6px; background: light-dark(#0b7285, #3fb8cb); color: light-dark(#fff, #06262b); font-weight: 600; cursor: pointer; }
:focus-visible { outline: 2px solid light-dark(#0b7285, #3fb8cb); outline-offset: 2px; }
.error { border-left: 4px solid light-dark(#b93427, #f07e75); padding-left: .8rem; }
`

const styleHash = createHash('sha256').update(STYLE).digest('base64')

/** Nothing may be loaded, framed or sent anywhere else. */
export const CSP = [
  "default-src 'none'",
  `style-src 'self' 'sha256-${styleHash}'`,
  "script-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)

function page(title: string, body: string, status = 200): Response {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`
  return new Response(html, { status, headers: { 'content-type': 'text/html; charset=utf-8' } })
}

export function homePage(basePath: string, pages: readonly { path: string; title: string }[] = []): Response {
  const base = escaped(basePath)
  const links = pages
    .map(({ path, title }) => `<li><a href="${base}${escaped(path)}">${escaped(title)}</a></li>\n`)
    .join('')
  return page(
    'Millrace',
    `<h1>Millrace admin</h1>
<p>The admin API is served here: jobs, queues, tenants, schedules, workflows, dead letters and more.</p>
<ul>
${links}<li><a href="${base}/admin/api/openapi.json">The API document</a> (OpenAPI 3.1)</li>
<li><a href="${base}/admin/api/me">Who you are</a>, and <a href="${base}/admin/login">log in</a> with a token</li>
</ul>
<form method="post" action="${base}/admin/logout"><button>Log out</button></form>`,
  )
}

export function loginPage(basePath: string, { next = '', error = '' } = {}, status = 200): Response {
  const base = escaped(basePath)
  const told = error === '' ? '' : `<p class="error" role="alert">${escaped(error)}</p>\n`
  return page(
    'Log in to Millrace',
    `<h1>Log in</h1>
${told}<form method="post" action="${base}/admin/login">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<input name="next" type="hidden" value="${escaped(next)}">
<button>Log in</button>
</form>
<p>An admin makes one with <code>millrace tokens create</code>. You stay logged in for 12 hours.</p>`,
    status,
  )
}
