// What needs attention: a sentence each, with its cause one click away.
import { type ReactElement, type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { Link } from './link.tsx'
import { RelativeTime } from './text/relative-time.tsx'
import { iconOf, type Tone, wordOf } from './tone.ts'

interface Target {
  readonly label: string
  readonly to: string
}

export interface Attention {
  /** Stays the same while it is about the same thing. */
  readonly key: string
  readonly tone: Tone
  readonly says: ReactNode
  /** Since when. */
  readonly since?: Date | string | null
  /** The button: where its cause is shown, or what to do at once. */
  readonly action?: Target | ReactElement
}

const isTarget = (action: Attention['action']): action is Target => action !== undefined && 'to' in action

export interface NeedsAttentionProps {
  items: readonly Attention[]
  /** More than these are folded. */
  most?: number
}

export function NeedsAttention({ items, most = 8 }: NeedsAttentionProps) {
  const [isOpen, setOpen] = useState(false)
  if (items.length === 0) return null
  const shown = isOpen ? items : items.slice(0, most)
  return (
    <section className="panel attn" aria-labelledby="attn">
      <h2 id="attn" className="vh">
        Needs attention
      </h2>
      <ul>
        {shown.map(({ key, tone, says, since, action }) => (
          <li key={key}>
            <Icon name={iconOf(tone)} label={wordOf(tone)} className={`t-${tone}`} />
            <span className="says">{says}</span>
            <span className="when">{since && <RelativeTime at={since} as="span" />}</span>
            {isTarget(action) ? (
              <Link className="btn" to={action.to}>
                {action.label}
              </Link>
            ) : (
              (action ?? <span />)
            )}
          </li>
        ))}
        {items.length > most && (
          <li>
            <span className="more">
              <Button variant="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
                {isOpen ? 'Show fewer' : `Show ${items.length - most} more`}
              </Button>
            </span>
          </li>
        )}
      </ul>
    </section>
  )
}
