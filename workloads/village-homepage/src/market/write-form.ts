// The form to a seller: stores the message with the job that relays it.
import { z } from 'zod'
import { MOST_IN_AN_HOUR } from '../mail/route-mail.ts'
import { answer } from '../page/answer.ts'
import { type PageForm, textOf } from '../page/forms.ts'
import { listingDocument } from '../page/listing-document.ts'
import type { Problems, WrittenFields } from '../page/write-to-seller.ts'
import type { VillageParts } from '../village-parts.ts'
import { storeInquiry } from './inquiry.ts'
import { activeListing } from './listing-store.ts'

const MOST_NAME = 80
const MOST_TEXT = 5_000
const PATH = /^\/listings\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\/write$/i

const isAddress = (email: string): boolean => z.email().max(254).safeParse(email).success

export const writeForm = (parts: VillageParts): PageForm => ({
  path: PATH,
  async send({ form, match, context }) {
    const id = match[1] ?? ''
    const { database, clock } = parts
    const listing = await activeListing(database, id, clock.now())
    if (listing === undefined) return answer(await listingDocument(context.basePath, undefined), { status: 404 })
    const fields = { name: textOf(form, 'name'), email: textOf(form, 'email'), text: textOf(form, 'text') }
    const problems = problemsOf(parts, fields)
    if (Object.keys(problems).length === 0) {
      const buyer = { email: fields.email.toLowerCase(), name: fields.name }
      const inquiry = { listingId: id, title: listing.title, buyer, text: fields.text, createdBy: 'visitor' }
      const outcome = await storeInquiry(parts, inquiry)
      const location = `${context.basePath}/village/listings/${id}?told=sent#write`
      if (outcome === 'stored') return new Response(null, { status: 303, headers: { location } })
      Object.assign(problems, REFUSALS[outcome])
    }
    return answer(await listingDocument(context.basePath, { parts, listing, fields, problems, pictures: [] }), {
      status: 422,
    })
  },
})

function problemsOf({ config }: VillageParts, { name, email, text }: WrittenFields): Problems {
  const problems: Problems = {}
  if (name === '' || name.length > MOST_NAME) problems.name = `Your name has 1 to ${MOST_NAME} characters.`
  else if (/\p{Cc}/u.test(name)) problems.name = 'Your name has a line break or another control character.'
  if (!isAddress(email)) problems.email = 'This is no e-mail address. Expected one such as ada@example.com.'
  else if (email.toLowerCase().endsWith(`@${config.mail.relayDomain.toLowerCase()}`))
    problems.email = 'This is an address of the village itself. Give your own.'
  if (text === '' || text.length > MOST_TEXT) problems.text = `Your message has 1 to ${MOST_TEXT} characters.`
  else if (text.includes('\0')) problems.text = 'Your message has a character that no mail may have.'
  return problems
}

const REFUSALS: Readonly<Record<'own listing' | 'too many', Problems>> = {
  'own listing': { email: 'This is your own listing.' },
  'too many': { text: `You have had ${MOST_IN_AN_HOUR} messages about this within an hour. Write again later.` },
}
