"""Words that never say what a text is about, by language.

Data; touches nothing. Short words stand here, too: by them a text shows its language. The English
list also has what people say in a chat without meaning anything in particular.
"""

from __future__ import annotations

FUNCTION_WORDS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "english": """
            a able about above absolutely across actually after afterwards again against ago ain
            all almost alone along already alright also although always am among an and another
            any anybody anymore anyone anything anytime anyway anywhere are aren around as aside
            ask asked asking at away awesome back basically be became because become becomes been
            before began behind being believe below beside besides best better between beyond big
            bit both bring brought but by bye call called came can cannot certain certainly come
            comes coming completely could couldn couple course cool currently d dear definitely
            did didn different do does doesn doing don done dont down during each earlier easily
            easy either else end enough especially etc even eventually ever every everybody
            everyone everything everywhere exactly except far feel feeling feels felt few finally
            find fine first for forward found from full fully further gave generally get gets
            getting give given gives giving glad go goes going gone gonna good gosh got gotta
            gotten great guess guy guys had hadn hand happen happened happening happens happy hard
            hardly has hasn have haven having he hear heard hello help helped helps her here hers
            herself hey hi him himself his hmm hope hopefully hoping how however huge i idea if
            immediately in indeed instead into is isn it its itself just keep keeping kept kind
            kinda knew know knowing known knows last lately later least left less let lets like
            liked likes likely little ll long longer look looked looking looks lot lots love loved
            made mainly make makes making many matter may maybe me mean means meant might mind
            mine more moreover most mostly much must mustn my myself n near nearly need needed
            needs neither never nevertheless new next nice no nobody none nor not nothing now
            nowhere o obviously of off often oh ok okay old on once one ones only onto oops open
            or other others otherwise ought our ours ourselves out over overall own part
            particular particularly past people perhaps person please plus point possible possibly
            pretty previous previously probably put quite rather re ready real really recent
            recently right s said same saw say saying says second see seeing seem seemed seems
            seen several shall shan she should shouldn show side simply since so some somebody
            somehow someone something sometimes somewhat somewhere soon sorry sort sound sounded
            sounding sounds started still stuff such super supposed sure t take taken takes taking
            talk talked talking tell telling tends than thank thanks that thats the their theirs
            them themselves then there therefore these they thing things think thinking thinks
            third this those though thought through throughout thus time times to today together
            told tomorrow too took totally toward towards tried tries truly try trying turn turned
            two uh um under unless unlike until up upon us use used uses using usually ve various
            very via want wanted wanting wants was wasn way ways we well went were weren what
            whatever when whenever where wherever whether which while who whoever whole whom whose
            why will wish with within without won wonder wonderful wondering work worked working
            works worth would wouldn wow y yeah year years yep yes yesterday yet you your yours
            yourself yourselves yup
        """,
        "german": """
            ab aber alle allem allen aller alles als also am an andere anderen anderer anderes
            auch auf aus außerdem bei beide beiden beim bereits bin bis bist bitte bleibt da dabei
            dadurch dafür dagegen daher dahin damals damit danach danke dann daran darauf daraus
            darf darin darüber darum das dass dasselbe davon davor dazu dein deine deinem deinen
            deiner dem den denen denn der deren des deshalb dessen dich die dies diese diesem
            diesen dieser dieses dir doch dort du durch dürfen ebenso eigentlich ein eine einem
            einen einer eines einfach einige einigen einiger einmal er erst es etwa etwas euch
            euer eure eurem euren falls fast für ganz ganze ganzen gar geben gegen gehabt gehen
            geht gemacht genau genug gerade gern gerne gesagt gestern getan gewesen geworden gibt
            ging gleich gut gute guten haben habe habt hallo hast hat hatte hatten hätte hätten
            hattest heute hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in
            indem ins irgendwie ist ja jede jedem jeden jeder jedes jedoch jemand jene jener jetzt
            kam kann kannst kaum kein keine keinem keinen keiner kommen kommt können könnte
            könnten lassen lässt leider lieber machen macht mal man manche manchmal mehr mein
            meine meinem meinen meiner meist mich mir mit möchte möchten morgen muss müssen musste
            mussten nach nachdem nämlich natürlich neben nein nicht nichts nie niemand noch nun
            nur ob oben oder oft ohne paar sagen sagt sagte schon sehr sei seid sein seine seinem
            seinen seiner seit selbst sich sicher sie sieht sind so sobald sogar solche solchen
            soll sollen sollte sollten somit sondern sonst soweit später statt trotz trotzdem über
            überhaupt um und uns unser unsere unserem unseren unserer unter viel viele vielen
            vielleicht vom von vor vorher wann war wäre wären waren warum was weg wegen weil weit
            weiter welche welchem welchen welcher welches wenig wenige weniger wenn wer werde
            werden wie wieder wieso will willst wir wird wirklich wissen wo wohl wollen wollte
            wollten worden wurde wurden würde würden zeigt ziemlich zu zum zur zurück zusammen
            zwar zwischen
        """,
        "french": """
            à ai aient ainsi alors après assez au aucun aucune aujourd auquel aura aurait aussi
            autant autre autres aux avaient avait avant avec avez avoir avons ayant beaucoup bien
            bientôt bonjour c ça car ce ceci cela celle celles celui cependant certain certaine
            certains ces cet cette ceux chacun chaque chez ci comme comment contre d dans de déjà
            depuis dernier dernière des dès deux devant dire dit doit donc dont du durant elle
            elles en encore enfin ensuite entre es est et étaient étais était étant été être eu
            eux faire fait faut fois font grand hier hors hui ici il ils j jamais je jusqu jusque
            l la là laquelle le lequel les lesquels leur leurs lors lorsque lui m ma mais malgré
            me même mêmes mes mieux moi moins mon n ne ni non nos notre nous on ont ou où oui par
            parce parfois parmi pas pendant peu peut peuvent peux plus plusieurs plutôt pour
            pourquoi pourrait près presque puis puisque qu quand que quel quelle quelles quelque
            quelques quels qui quoi rien s sa sans sauf se selon sera serait ses si sien sinon
            soit son sont souvent suis sur surtout t ta tandis tant te tel telle tellement tes toi
            ton toujours tous tout toute toutefois toutes très trop tu un une vais vers voici
            voilà voir vont vos votre vous vraiment vu y
        """,
        "spanish": """
            a acá además ahí ahora al algo alguien algún alguna algunas alguno algunos allá allí
            ante antes aquel aquella aquellos aquí así aún aunque ayer bastante bien bueno cada
            casi como cómo con contra cosa cosas creo cual cuál cuales cualquier cuando cuándo
            cuanto de debe debido decir del demás demasiado dentro desde después dice dijo donde
            dónde dos durante e el él ella ellas ellos embargo en entonces entre era eran eres es
            esa esas ese eso esos esta está están estaba estaban estamos estar estas este esto
            estos estoy estuve fue fuera fueron ha había habían hace hacer hacia han hasta hay
            haya he hemos hizo hola hoy igual incluso ir jamás junto la las le les lo los luego
            más mas me mejor menos mi mí mientras mis misma mismas mismo mismos mucha muchas mucho
            muchos muy nada nadie ni ningún ninguna ninguno no nos nosotros nuestra nuestras
            nuestro nuestros nunca o os otra otras otro otros para parece pero poco pocos podemos
            poder por porque pues puede pueden puedo que qué quien quién quienes quiere quiero se
            sé sea según ser será sería si sí sido siempre siendo sin sino sobre sola solo sólo
            somos son soy su sus suya suyo también tampoco tan tanto te tenemos tener tengo tenía
            tiene tienen toda todas todavía todo todos tras tu tú tus un una unas uno unos usted
            ustedes va vamos van vez voy y ya yo
        """,
        "italian": """
            a abbiamo ad adesso agli ai al alcune alcuni alla alle allo allora altra altre altri
            altro anche ancora anzi appena assai avere aveva avevano avevo avete bene che chi ci
            ciao ciascuno cioè circa ciò coi col come comunque con cosa cosi così cui da dagli dai
            dal dalla dalle davvero degli dei del della delle dello dentro deve di dietro dopo
            dove due dunque durante e è ecco ed egli era erano eravamo ero essa esse essendo
            essere essi fa fanno fare fatto finché fino fra fu fuori furono già gli grazie ha hai
            hanno ho i ieri il in infatti insieme intanto invece io la là le lei li lo loro lui ma
            mai me meglio meno mentre mi mia mie miei mio molta molte molti molto ne negli nei nel
            nella nelle nello nemmeno nessun nessuna nessuno niente no noi non nostra nostre
            nostri nostro nulla o oggi ogni ognuno oltre oppure ora ossia per perché però piu più
            poco poi poiché possiamo posso possono potrebbe prima proprio può qualche qualcosa
            qualcuno quale quali quando quanta quanto quasi quella quelle quelli quello questa
            queste questi questo qui quindi sarà sarebbe se sei sempre senza sia siamo siano siete
            solo sono sopra soprattutto sotto spesso sta stata state stati stato stava stesso sto
            su sua sue sugli sui sul sulla sulle suo suoi tale tali tanto te ti tra troppo tu tua
            tue tuo tuoi tutta tuttavia tutte tutti tutto un una uno va verso vi via voi volta
            vostra vostro vuole
        """,
        "portuguese": """
            a à agora aí ainda além algo alguém algum alguma algumas alguns ali ambos amanhã ante
            antes ao aos apenas após aquela aquelas aquele aqueles aqui aquilo as às assim até bem
            bom cada coisa com como contra contudo da dar das de dela delas dele deles demais
            dentro depois desde dessa desse desta deste deve dia disse disso disto do dois dos
            durante e é ela elas ele eles em embora enquanto então entre era eram essa essas esse
            esses esta está estamos estão estar estas estava estavam este esteja estes estou eu
            faz fazer fazia fez foi for fora foram fosse há hoje ia ir isso isto já la lá lhe lhes
            lo logo mais mas me meio melhor menos mesma mesmo meu meus minha minhas muita muitas
            muito muitos na nada não nas nem nenhum nenhuma nessa nesse nesta neste ninguém no nos
            nós nossa nossas nosso nossos num numa nunca o obrigado olá onde ontem os ou outra
            outras outro outros para pela pelas pelo pelos perante pode podem poder pois por porém
            porque porquê pouco poucos pra qual qualquer quais quando quanto quase que quê quem
            quer são se seja sem sempre sendo ser será seria seu seus si sido sim só sob sobre
            somos sou sua suas tal talvez também tanta tanto tão te tem têm temos tenho ter teu
            teve ti tinha tinham toda todas todavia todo todos tu tua tudo um uma umas uns vai
            vamos vão vem vez você vocês vos vou
        """,
        "dutch": """
            aan achter af al alle alleen alles als altijd ander andere anders bedankt ben bent
            beter bij bijna bijvoorbeeld binnen boven daar daarna daarom dan dat de deze die dit
            doe doen doet door dus echt echter een eens eerst eigenlijk elk elke en enkele er erg
            ergens even gaan gaat ge gedaan geen geweest gewoon ging goed goede graag groot had
            hadden heb hebben hebt heeft heel hele helemaal hem hen het hier hij hoe hoewel hun
            iedereen iemand iets ik in is ja je jij jouw juist jullie kan kon konden kun kunnen
            kunt laat later leuk maar maken man me meer meest men met mij mijn misschien mocht
            moet moeten mogelijk mogen na naar naast nee net niemand niet niets nieuw nieuwe nog
            nooit nu of om omdat onder ons onze ook op opnieuw over overal samen sinds soms steeds
            te tegen ten ter terwijl toch toen tot tussen u uit uw van vanaf vandaag vanuit vaak
            veel veranderen vind voor vooral voordat waar waarom wanneer want waren was wat we
            weer weg weinig wel weten wie wij wil willen worden wordt zal ze zeer zeg zeggen zei
            zelf zelfs zich zie zien zij zijn zo zoals zonder zou zouden zullen
        """,
        "russian": """
            а без более больше будет будто бы был была были было быть в вам вас ваш вдруг ведь во
            вот впрочем все всегда всего всех всю вы где говорит да даже два для до другой его ее
            ей ему если есть еще ещё ж же за зачем здесь и из или им иногда их к как какая какой
            когда конечно кто куда ли лучше между меня мне много может можно мой моя мы на над
            надо наконец нас наш не него нее ней нельзя нет ни нибудь никогда ним них ничего но ну
            о об один он она они оно опять от очень перед по под пока после потом потому почти при
            про просто раз разве с сам самый свой свою себе себя сегодня сейчас сказал сказала со
            совсем так такой там тебя тем теперь то тоже только того той том тот три ту тут ты у
            уж уже хорошо хоть чего чем через что чтоб чтобы чуть эта эти это этого этой этом этот
            эту я
        """,
    }.items()
}
