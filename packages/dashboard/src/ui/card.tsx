// What content stands in.
import { type CSSProperties, type ReactNode, useId } from 'react'

export interface CardProps {
  title?: ReactNode
  /** On the right of the title: a legend, a link, a figure. */
  aside?: ReactNode
  /** A sentence below the title. */
  note?: ReactNode
  /** Without space inside, for tables. */
  flush?: boolean
  /** A class such as 'c-blue' draws the edge in the colour of a queue. */
  edge?: string
  className?: string
  style?: CSSProperties
  children: ReactNode
}

export function Card({ title, aside, note, flush = false, edge, className = '', style, children }: CardProps) {
  const id = useId()
  const classes = ['panel', flush && 'flush', edge !== undefined && `edge ${edge}`, className].filter(Boolean).join(' ')
  return (
    <section className={classes} style={style} {...(title !== undefined && { 'aria-labelledby': id })}>
      {title !== undefined && (
        <div className="ph">
          <h2 id={id}>{title}</h2>
          {aside}
        </div>
      )}
      {note !== undefined && <p className="note">{note}</p>}
      {children}
    </section>
  )
}

/** Facts: a name and what it is. Empty ones are left out. */
export function Facts({ of }: { of: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="kv">
      {of
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value]) => (
          <div key={name} style={{ display: 'contents' }}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
