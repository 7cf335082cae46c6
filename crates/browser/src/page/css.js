// Styles: what counts for an element in the end.

const styles = on((element, { properties, pseudo }) => {
  const computed = getComputedStyle(element, pseudo || null);
  const names = properties?.length ? properties : [...computed];
  return { styles: Object.fromEntries(names.slice(0, 600).map((name) => [name, computed.getPropertyValue(name)])),
    name: described(element) };
});

// The same of an element as a browser would draw it without any style of the page.
const styled = on((element, { properties }) => {
  const computed = getComputedStyle(element);
  const bare = document.createElement(tagOf(element));
  wholePage().append(bare);
  const base = getComputedStyle(bare);
  const names = properties?.length ? properties : [...computed];
  const differ = names.filter((name) => properties?.length || computed.getPropertyValue(name) !== base.getPropertyValue(name));
  const pairs = differ.slice(0, 300).map((name) => [name, computed.getPropertyValue(name)]);
  bare.remove();
  return { styles: Object.fromEntries(pairs), name: described(element) };
});
