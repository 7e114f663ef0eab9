// Keys that work on every page.

import { useEffect } from 'react';

/** While a field or a dialog is active, its own keys apply. */
function isBusy(target: EventTarget | null): boolean {
  if (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select'))
  )
    return true;
  return document.querySelector('[role="dialog"]') !== null;
}

type Keys = { readonly onSearch: () => void; readonly onHelp: () => void };

export function useKeys({ onSearch, onHelp }: Keys): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
      const isPalette = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k';
      if (isPalette || (event.key === '/' && isPlain && !isBusy(event.target))) {
        // Otherwise the browser's own search opens, or the slash is typed.
        event.preventDefault();
        onSearch();
      } else if (event.key === '?' && isPlain && !isBusy(event.target)) onHelp();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [onSearch, onHelp]);
}
