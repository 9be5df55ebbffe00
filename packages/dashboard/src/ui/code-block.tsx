// Text of machines: commands, payloads, stacks. A text of ten thousand lines is shown in parts, so that it does not hang.
import { useMemo, useState } from 'react'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { counted } from './text/format.ts'

const PART = 200

export interface CodeBlockProps {
  text: string
  /** Read aloud: "Stack of attempt 2". */
  label: string
  /** On the left above it. */
  caption?: string
  /** Highest height in pixels. */
  height?: number
}

export function CodeBlock({ text, label, caption, height = 420 }: CodeBlockProps) {
  const lines = useMemo(() => text.split('\n'), [text])
  const [most, setMost] = useState(PART)
  const rest = lines.length - most
  // One long line would hang the browser as well as many.
  const shown = lines.slice(0, most).map((line) => (line.length > 4_000 ? `${line.slice(0, 4_000)} …` : line))
  return (
    <div className="code" style={{ ['--code-h' as string]: `${height}px` }}>
      <div className="tools">
        <span>{caption ?? (lines.length > 1 ? counted(lines.length, 'line') : '')}</span>
        <CopyButton text={text} label={`Copy: ${label}`} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="text" tabIndex={0} aria-label={label}>
        <pre>{shown.join('\n')}</pre>
      </section>
      {rest > 0 && (
        <div className="tools">
          <span>{counted(rest, 'more line')}</span>
          <Button size="sm" onClick={() => setMost(most + PART * 5)}>
            Show {Math.min(rest, PART * 5)} more
          </Button>
        </div>
      )}
    </div>
  )
}

/** A value as JSON, keys in the order in which they came. */
export const JsonBlock = ({ value, label, ...rest }: Omit<CodeBlockProps, 'text'> & { value: unknown }) => (
  <CodeBlock text={JSON.stringify(value, null, 2) ?? 'undefined'} label={label} {...rest} />
)

/** The same from a terminal. A line ends between words, not at the hyphens of an option. */
export const CommandLine = ({ command }: { command: string }) => (
  <div className="cli">
    <code>
      {command.split(/(?<= )/).map((word, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a command does not change its words
        <span key={at}>{word}</span>
      ))}
    </code>
    <CopyButton text={command} label="Copy the command" />
  </div>
)
