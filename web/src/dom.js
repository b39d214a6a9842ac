// Elements, briefly: h('p', { class: 'note' }, 'text', child...).
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'style') element.style.cssText = value;
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ''));
  return element;
}

/// Puts children in the place of all that an element has.
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ''));
  return element;
}

/// One choice of several, as buttons of a kind that keyboards and screen readers know: radios.
export function choice(title, options, chosen, choose) {
  const group = `choice-${title.replace(/\W+/g, '-').toLowerCase()}`;
  return h('fieldset', { class: 'choice' }, h('legend', {}, title),
    options.map(([value, text]) => h('label', {},
      h('input', { type: 'radio', name: group, value, checked: value === chosen, onchange: () => choose(value) }),
      h('span', {}, text))));
}
