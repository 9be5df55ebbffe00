// Pieces of the page. Texts in them are escaped; what is in `raw` is not.
import { html, raw } from 'hono/html'

export type Html = ReturnType<typeof html>
export { html, raw }
