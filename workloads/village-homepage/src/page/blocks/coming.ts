// Blocks whose part of the village is not built yet: they say what will be there.
import { html } from 'hono/html'
import type { Block } from '../view.ts'

const coming = (name: string, title: string, text: string): Block => ({
  name,
  render: async () => html`<h2 id="${name}">${title}</h2>
<p class="empty">${text}</p>`,
})

export const marketplace = coming(
  'marketplace',
  'Marketplace',
  'Nothing is for sale yet. Neighbours will offer things here, and write to each other without telling their addresses.',
)
