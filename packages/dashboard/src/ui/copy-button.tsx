// Copies a text. Without the clipboard API, which browsers keep from pages without TLS, it selects the text for Ctrl+C.
import { useEffect, useState } from 'react'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'

export interface CopyButtonProps {
  text: string
  /** Read aloud, such as "Copy the command". */
  label?: string
  /** Only the icon. */
  iconOnly?: boolean
}

export function CopyButton({ text, label = 'Copy', iconOnly = false }: CopyButtonProps) {
  const [word, setWord] = useState<string | null>(null)
  useEffect(() => {
    if (word === null) return
    const timer = setTimeout(() => setWord(null), 1_600)
    return () => clearTimeout(timer)
  }, [word])
  const copy = async () => setWord((await copied(text)) ? 'Copied' : 'Press Ctrl+C')
  return (
    <Button size="sm" variant={iconOnly ? 'quiet' : 'plain'} aria-label={word ?? label} onClick={copy}>
      <Icon name={word === 'Copied' ? 'ok' : 'copy'} />
      {!iconOnly && (word ?? 'Copy')}
      <span className="vh" role="status">
        {word}
      </span>
    </Button>
  )
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copiedBySelection(text)
  }
}

function copiedBySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.setAttribute('readonly', '')
  area.style.position = 'fixed'
  area.style.opacity = '0'
  ;(document.querySelector('dialog[open]') ?? document.body).append(area)
  area.select()
  const isDone = document.execCommand('copy')
  area.remove()
  return isDone
}
