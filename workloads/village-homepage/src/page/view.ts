// What blocks of the page are rendered for: one visitor's choices, at one moment.
import type { html } from 'hono/html'
import type { Millrace } from 'millrace'
import type { VillageParts } from '../village-parts.ts'

export type Html = ReturnType<typeof html>

export interface View {
  readonly parts: VillageParts
  readonly millrace: Millrace
  readonly now: Date
  /** Before every path of this server: '' or where it is mounted. */
  readonly basePath: string
  /** Only news of this category; undefined: of all. */
  readonly category: string | undefined
  /** Whether the page tells which job refreshed what. Visitors of a real village need not know. */
  readonly showsJobs: boolean
  /** Told of a block that cannot be shown. */
  onError(error: unknown, block: string): void
}

export interface Block {
  readonly name: string
  /** Everything inside its section, its heading included. */
  render(view: View): Promise<Html>
}

/** The village's own time is that of its first place. */
export const timeZoneOf = ({ parts }: View): string => parts.config.weather.locations[0]?.timeZone ?? 'UTC'
