// The form "submit a site". The site and the workflow that takes its picture are stored together, or neither is.
import type { Queryable } from 'millrace'
import { answer } from '../page/answer.ts'
import { backTo, type PageForm, type Sent, textOf } from '../page/forms.ts'
import { message } from '../page/layout.ts'
import type { VillageParts } from '../village-parts.ts'
import { submitSite } from './site-store.ts'

export const SITE_CATEGORIES = ['General', 'Culture', 'Food', 'Outdoors', 'School', 'Trades'] as const

const LONGEST_URL = 2_000
const LONGEST_TITLE = 120

interface GivenSite {
  readonly url: string
  readonly title: string
  readonly category: string
}

export const submitSiteForm = ({ goodSite, database }: VillageParts): PageForm => ({
  path: /^\/sites$/,
  async send({ form, context }: Sent) {
    const given = siteOf(form)
    if (typeof given === 'string') return answer(message(context.basePath, 'Not added', given), { status: 422 })
    const isNew = await database.transaction(async (tx: Queryable) => {
      const id = await submitSite(tx, given)
      if (id === undefined) return false
      const input = { site_id: id, url: given.url }
      await context.millrace.workflows.start(goodSite, input, { tx, createdBy: 'visitor' })
      return true
    })
    return backTo(context, `?told=${isNew ? 'site-added' : 'site-known'}#sites`)
  },
})

/** A text: what is wrong, and what to do. */
function siteOf(form: FormData): GivenSite | string {
  const typed = textOf(form, 'url')
  const text = /^[a-z][a-z0-9+.-]*:/i.test(typed) ? typed : `https://${typed}`
  if (typed === '' || !URL.canParse(text))
    return 'The address of the site is missing or not complete. It looks like https://example.com. Go back and correct it.'
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    return 'The address of a site begins with https:// or http://, and has no user name in it. Go back and correct it.'
  url.hash = ''
  if (url.href.length > LONGEST_URL)
    return `The address is longer than ${LONGEST_URL} characters. Go back and shorten it.`
  const title = textOf(form, 'title').replaceAll(/\s+/g, ' ')
  if (title.length > LONGEST_TITLE)
    return `The name is longer than ${LONGEST_TITLE} characters. Go back and shorten it.`
  const category = SITE_CATEGORIES.find((each) => each === textOf(form, 'category')) ?? 'General'
  // Without a name it is called by its host, and then by the title of its page.
  return { url: url.href, title: title === '' ? url.host : title, category }
}
