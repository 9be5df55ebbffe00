// The form about being counted: yes, no, and back to no at any time.
import { backTo, type PageForm, textOf } from '../page/forms.ts'
import type { VillageParts } from '../village-parts.ts'
import { agree, cookieFor, type Visitor, visitorOf, withdraw } from './visitor.ts'

export const consentForm = (parts: VillageParts): PageForm => ({
  path: /^\/consent$/,
  async send({ form, request, context }) {
    const says = textOf(form, 'counting')
    if (says !== 'yes' && says !== 'no') return backTo(context, '#counting')
    const visitor = await decided(parts, { before: visitorOf(request), says })
    const isSecure = request.headers.get('x-forwarded-proto') === 'https' || request.url.startsWith('https:')
    return backTo(context, '#counting', {
      'set-cookie': cookieFor(visitor, { basePath: context.basePath, isSecure }),
    })
  },
})

async function decided(
  { database }: VillageParts,
  { before, says }: { before: Visitor; says: 'yes' | 'no' },
): Promise<Visitor> {
  if (says === 'yes') return before.says === 'yes' ? before : agree(database)
  if (before.says === 'yes') await withdraw(database, before.id)
  return { says }
}
